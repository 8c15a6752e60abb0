#!/usr/bin/env bash
# ./dev bench ingest [--seconds N] [--rounds N] [--only sqlite|postgres]
# Events a second, durable through HTTP, beside a bare insert loop and a Node handler: all in
# one run, on the private PostgreSQL that ./dev started.
set -euo pipefail
cd "$(dirname "$0")/.."
: "${TEST_POSTGRES_URL:?run it as ./dev bench ingest}"
command -v node >/dev/null && command -v npm >/dev/null ||
  { echo "bench: node and npm are missing: the Node handler is one of the sides compared" >&2; exit 1; }

work=$(mktemp -d /tmp/kurier-bench.XXXXXX)
trap 'rm -rf "$work"' EXIT

echo "==> build" >&2
cargo build --profile dist --quiet --package kurier --bin kurier --package kurier-bench --bin kurier-bench
# A copy, so that a build meanwhile does not change what is measured.
cp "${CARGO_TARGET_DIR:-target}"/dist/kurier{,-bench} "$work/"

echo "==> the Node peer's packages" >&2
mkdir "$work/peers"
cp bench/peers/package.json bench/peers/ingest.mjs "$work/peers/"
npm install --prefix "$work/peers" --no-package-lock --no-audit --no-fund --loglevel=error >&2

"$work/kurier-bench" ingest --kurier "$work/kurier" --peers "$work/peers" \
  --out "$PWD/bench/results/ingest.json" "$@"
