#!/usr/bin/env bash
# ./dev bench keys [--texts N] [--seed N]; a part of ./dev test.
# Random texts must get the same keys from Kurier as from bench/peers/keys.py.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --quiet --package kurier-bench --bin kurier-bench
"${CARGO_TARGET_DIR:-target}"/debug/kurier-bench keys "$@"
