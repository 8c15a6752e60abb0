#!/usr/bin/env bash
# ./dev bench evaluations [--contacts N] [--rounds N]
# One contact with twenty events against one segment, beside Rust rule engines, on one core.
set -euo pipefail
cd "$(dirname "$0")/.."
echo "==> build, with the rule engines" >&2
cargo build --profile dist --quiet --package kurier-bench --bin kurier-bench --features rule-engines
"${CARGO_TARGET_DIR:-target}"/dist/kurier-bench evaluations --out "$PWD/bench/results/evaluations.json" "$@"
