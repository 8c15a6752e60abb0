#!/usr/bin/env bash
# ./dev bench segments [--size small|large|both] [--rounds N] [--sides NAME,…]
# Six segments on Kurier's world and on DuckDB, Polars, ClickHouse and PostgreSQL over the same
# data, all in one run, interleaved; the members must be the same everywhere.
set -euo pipefail
cd "$(dirname "$0")/.."
: "${TEST_POSTGRES_URL:?run it as ./dev bench segments}"
. bench/python.sh

work=$(mktemp -d /tmp/kurier-bench.XXXXXX)
trap 'rm -rf "$work"' EXIT

echo "==> build" >&2
cargo build --release --quiet --package kurier --bin kurier --package kurier-bench --bin kurier-bench
cp "${CARGO_TARGET_DIR:-target}"/release/kurier-bench "$work/"
make_python bench/peers/requirements.txt

. bench/data.sh "$@"

"$work/kurier-bench" segments --python "$python" --peers bench/peers --data "$data" \
  --out "$PWD/bench/results/segments.json" "$@"
