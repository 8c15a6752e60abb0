#!/usr/bin/env bash
# ./dev bench differential [--expressions N] [--seed N]; a part of ./dev test.
# Random expressions must have the same members in Kurier as in DuckDB.
set -euo pipefail
cd "$(dirname "$0")/.."
. bench/python.sh
make_python bench/peers/differential.txt
cargo build --quiet --workspace --bins
"${CARGO_TARGET_DIR:-target}"/debug/kurier-bench differential --python "$python" --peers bench/peers "$@"
