#!/usr/bin/env bash
# ./dev bench journeys [--contacts N] [--runs N] [--waiting N] [--rounds N] [--only sqlite|postgres]
# Contacts through trigger, condition, wait, send and exit, beside DBOS and Restate on the same
# journey in one run; then many that wait: what they take, how late timers are, and how long it
# takes to go on after kill -9.
set -euo pipefail
cd "$(dirname "$0")/.."
: "${TEST_POSTGRES_URL:?run it as ./dev bench journeys}"
command -v node >/dev/null && command -v npm >/dev/null ||
  { echo "bench: node and npm are missing: both peers run on Node" >&2; exit 1; }

work=$(mktemp -d /tmp/kurier-bench.XXXXXX)
trap 'rm -rf "$work"' EXIT

echo "==> build" >&2
cargo build --profile dist --quiet --package kurier --bin kurier --package kurier-bench --bin kurier-bench
# A copy, so that a build meanwhile does not change what is measured.
cp "${CARGO_TARGET_DIR:-target}"/dist/kurier{,-bench} "$work/"

echo "==> the peers' packages" >&2
cp -r bench/peers/journeys "$work/peers"
npm install --prefix "$work/peers" --no-package-lock --no-audit --no-fund --loglevel=error >&2

"$work/kurier-bench" journeys --kurier "$work/kurier" --peers "$work/peers" \
  --out "$PWD/bench/results/journeys.json" "$@"
