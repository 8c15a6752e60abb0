#!/usr/bin/env bash
# ./dev bench deliver [--messages N] [--rounds N] [--only sqlite|postgres]
# Messages into the queue and out of it, to the outbox, a local HTTP sink and a local SMTP sink,
# beside a bare SKIP LOCKED loop, graphile-worker, pg-boss and BullMQ in one run; and how long
# one message takes when there is nothing else to do.
set -euo pipefail
cd "$(dirname "$0")/.."
: "${TEST_POSTGRES_URL:?run it as ./dev bench deliver}"
command -v node >/dev/null && command -v npm >/dev/null ||
  { echo "bench: node and npm are missing: the job queues compared with run on Node" >&2; exit 1; }

work=$(mktemp -d /tmp/kurier-bench.XXXXXX)
trap 'rm -rf "$work"' EXIT

echo "==> build" >&2
cargo build --profile dist --quiet --package kurier --bin kurier --package kurier-bench --bin kurier-bench
# A copy, so that a build meanwhile does not change what is measured.
cp "${CARGO_TARGET_DIR:-target}"/dist/kurier{,-bench} "$work/"

echo "==> the peers' packages" >&2
cp -r bench/peers/deliver "$work/peers"
npm install --prefix "$work/peers" --no-package-lock --no-audit --no-fund --loglevel=error >&2

"$work/kurier-bench" deliver --kurier "$work/kurier" --peers "$work/peers" \
  --out "$PWD/bench/results/deliver.json" "$@"
