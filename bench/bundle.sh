#!/usr/bin/env bash
# ./dev bench bundle [--bundles N] [--rate N] [--seconds N] [--rounds N] [--headers N] [--header-file CHAIN:START:FILE] [--strict]
# Bundles under load, with a new tip every second and one reorg: Kurier with Redis and in one process,
# beside bare axum that answers what Redis has; proofs verified beside @bsv/sdk and the crate bsv-rs;
# headers checked from a file. A missed target says MISS; with --strict it fails.
set -euo pipefail
cd "$(dirname "$0")/.."
: "${TEST_REDIS_URL:?run it as ./dev bench bundle}"
command -v node >/dev/null && command -v npm >/dev/null ||
  { echo "bench: node and npm are missing: the SDK compared with runs on Node" >&2; exit 1; }

work=$(mktemp -d /tmp/kurier-bench.XXXXXX)
trap 'rm -rf "$work"' EXIT
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
# BENCH_PROFILE=dev is for trying the benchmark itself; its figures mean nothing.
profile=${BENCH_PROFILE:-dist}
built=$([ "$profile" = dev ] && echo debug || echo "$profile")

echo "==> build" >&2
cargo build --profile "$profile" --quiet --package kurier --bin kurier --package kurier-bench --bin kurier-bench
# A copy, so that a build meanwhile does not change what is measured.
cp "$target/$built"/kurier{,-bench} "$work/"

echo "==> the peers" >&2
peers="$target/bench/bundle"
mkdir -p "$peers"
cp bench/peers/bundle/* "$peers/"
npm install --prefix "$peers" --no-package-lock --no-audit --no-fund --loglevel=error >&2
cargo build --profile "$profile" --quiet --manifest-path "$peers/Cargo.toml" --target-dir "$peers/target"

"$work/kurier-bench" bundle --kurier "$work/kurier" --sdk "$peers/verify.mjs" \
  --crate "$peers/target/$built/kurier-bench-bundle" --redis "$TEST_REDIS_URL" \
  --out "$PWD/bench/results/bundle.json" "$@"
