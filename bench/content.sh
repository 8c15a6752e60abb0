#!/usr/bin/env bash
# ./dev bench content [--rounds N] [--files 1,10,100] [--imports 1,10,20,100]
# Markdown to keys, 1 to 100 MB, and whole imports into the process and into Redis, beside LangChain,
# LlamaIndex and the text-splitter crate.
set -euo pipefail
cd "$(dirname "$0")/.."
: "${TEST_REDIS_URL:?run it as ./dev bench content}"
. bench/python.sh

echo "==> build, with the splitters" >&2
cargo build --profile dist --quiet --package kurier-bench --bin kurier-bench --features splitters
make_python bench/peers/content.txt
"${CARGO_TARGET_DIR:-target}"/dist/kurier-bench content --python "$python" \
  --redis "$TEST_REDIS_URL" --out "$PWD/bench/results/content.json" "$@"
