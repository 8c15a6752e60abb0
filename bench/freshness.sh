#!/usr/bin/env bash
# ./dev bench freshness [--log small|large|none] [--seconds N] [--rate N]
# From an acknowledged event to the member seen through the API, on SQLite and PostgreSQL; previews
# over HTTP and a restart on a long log.
set -euo pipefail
cd "$(dirname "$0")/.."
: "${TEST_POSTGRES_URL:?run it as ./dev bench freshness}"
. bench/python.sh

work=$(mktemp -d /tmp/kurier-bench.XXXXXX)
trap 'rm -rf "$work"' EXIT
echo "==> build" >&2
cargo build --profile dist --quiet --package kurier --bin kurier --package kurier-bench --bin kurier-bench
cp "${CARGO_TARGET_DIR:-target}"/dist/kurier{,-bench} "$work/"
. bench/data.sh "$@"

"$work/kurier-bench" freshness --kurier "$work/kurier" --data "$data" \
  --out "$PWD/bench/results/freshness.json" "$@"
