#!/usr/bin/env bash
# ./dev bench bundle [--bundles N] [--rate N] [--seconds N]
# Bundles under load, with a new tip every second and one reorg: Kurier with Redis and in one process,
# beside bare axum that answers what Redis has; proofs verified beside @bsv/sdk; headers from a file.
set -euo pipefail
cd "$(dirname "$0")/.."
: "${TEST_REDIS_URL:?run it as ./dev bench bundle}"

echo "==> build" >&2
cargo build --release --quiet --package kurier --package kurier-bench --bins
target="${CARGO_TARGET_DIR:-target}"

peer="$target/bench/bundle"
mkdir -p "$peer"
cp bench/peers/bundle/package.json bench/peers/bundle/verify.mjs "$peer"
(cd "$peer" && npm install --silent --no-audit --no-fund >&2)

"$target"/release/kurier-bench bundle --kurier "$target/release/kurier" --peer "$peer/verify.mjs" "$@"
