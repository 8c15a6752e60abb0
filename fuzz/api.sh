#!/usr/bin/env bash
# Sends requests that are made from /openapi.json, good and bad ones, to a server of its own, and compares every answer
# with the description: `./dev fuzz api`. Arguments go on to Schemathesis.
#   KURIER_BIN   the program to test (default target/debug/kurier)
set -euo pipefail
cd "$(dirname "$0")/.."

VERSION=4.32.5
program=${KURIER_BIN:-target/debug/kurier}
home=$(realpath -m "${CARGO_TARGET_DIR:-target}")/fuzz/api
key=admin-key-of-the-fuzzer-0123456789

install() {
  [ "$(cat "$home/installed" 2>/dev/null)" != "$VERSION" ] || return 0
  python3 -m venv --clear "$home/venv"
  "$home/venv/bin/pip" install --quiet --disable-pip-version-check "schemathesis==$VERSION"
  printf '%s\n' "$VERSION" >"$home/installed"
}

serve() {
  data=$(mktemp -d)
  trap 'kill "$server" 2>/dev/null; wait "$server" 2>/dev/null || true; rm -rf "$data"' EXIT
  KURIER_BOOTSTRAP_ADMIN_KEY=$key "$program" serve --listen 127.0.0.1:0 --data "$data" >"$data/out" 2>"$home/server.log" &
  server=$!
  until url=$(sed -n 's/^listening on //p' "$data/out") && [ -n "$url" ]; do
    kill -0 "$server" 2>/dev/null || { cat "$home/server.log" >&2; exit 1; }
    read -rt 0.05 <> <(:) || true
  done
}

# A stream that does not end is nothing to wait for. An audience of one: what is deleted stays so.
look() {
  "$home/venv/bin/schemathesis" run "$url/openapi.json" --header "Authorization: Bearer $key" \
    --phases examples,coverage --exclude-path /api/v1/live --warnings off --seed 1 --request-timeout 30 \
    --checks not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance \
    "$@"
}

mkdir -p "$home"
install
serve
look "$@"
