#!/usr/bin/env bash
# ./dev bench edge [--events N] [--contacts N] [--rounds N]
# Events into Redis through the edge, beside a bare pipeline that writes the same keys; a part of
# `./dev bench projections`.
set -euo pipefail
cd "$(dirname "$0")/.."
: "${TEST_REDIS_URL:?run it as ./dev bench edge}"

echo "==> build" >&2
cargo build --profile dist --quiet --package kurier-bench --bin kurier-bench
"${CARGO_TARGET_DIR:-target}"/dist/kurier-bench edge \
  --out "$PWD/bench/results/edge.json" "$@"
