#!/usr/bin/env bash
# ./dev bench projections [--events N] [--rounds N] [--only sqlite|postgres] [--no-peers]
# A counter and a summary folded live and rebuilt, on SQLite and PostgreSQL, beside a bare loop over
# the same log, Emmett and eventsourcing in one run; then the edge beside a bare pipeline.
set -euo pipefail
cd "$(dirname "$0")/.."
: "${TEST_POSTGRES_URL:?run it as ./dev bench projections}"
. bench/python.sh
command -v node >/dev/null && command -v npm >/dev/null ||
  { echo "bench: node and npm are missing: Emmett runs on Node" >&2; exit 1; }

work=$(mktemp -d /tmp/kurier-bench.XXXXXX)
trap 'rm -rf "$work"' EXIT

echo "==> build" >&2
cargo build --profile dist --quiet --package kurier-bench --bin kurier-bench
cp "${CARGO_TARGET_DIR:-target}/dist/kurier-bench" "$work/"

echo "==> the peers' packages" >&2
cp -r bench/peers/projections "$work/peers"
npm install --prefix "$work/peers" --no-package-lock --no-audit --no-fund --loglevel=error >&2
make_python bench/peers/projections/eventsourcing.txt

"$work/kurier-bench" projections --peers "$work/peers" --python "$python" \
  --out "$PWD/bench/results/projections.json" "$@"
"$work/kurier-bench" edge --out "$PWD/bench/results/edge.json"
