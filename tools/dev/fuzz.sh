# To be sourced by ./dev: fuzzers.

# Coverage guides the fuzzer; these flags of LLVM's are to be had from the stable compiler.
FUZZ_FLAGS="-C passes=sancov-module -C codegen-units=1 -C llvm-args=-sanitizer-coverage-level=4"
FUZZ_FLAGS="$FUZZ_FLAGS -C llvm-args=-sanitizer-coverage-inline-8bit-counters"
FUZZ_FLAGS="$FUZZ_FLAGS -C llvm-args=-sanitizer-coverage-pc-table -C llvm-args=-sanitizer-coverage-trace-compares"

fuzz_seeds() { # fuzz_seeds NAME FOLDER: a file for each line of the seeds
  rm -rf "$2"; mkdir -p "$2"
  split --lines=1 --suffix-length=3 "fuzz/$1.seeds" "$2/"
}

fuzz() {
  local name=${1:-} seconds=600 host home
  if [ "$name" = api ]; then shift; fuzz_api "$@"; return; fi
  [ -n "$name" ] && [ -f "fuzz/$name.seeds" ] || die "which fuzzer? there are: api, bundle, content, parser"
  shift
  if [ "${1:-}" = --seconds ]; then seconds=${2:?--seconds needs a number}; shift 2; fi
  [ $# = 0 ] || die "unknown: $*"
  need c++ g++
  host=$(rustc -vV | sed -n 's/^host: //p')
  home=target/fuzz/$name
  # With a target named, build scripts are not built with these flags.
  RUSTFLAGS="$FUZZ_FLAGS" cargo build --quiet -p kurier-fuzz --bin "fuzz-$name" --profile fuzz \
    --target "$host" --target-dir target/fuzz
  fuzz_seeds "$name" "$home/seeds"
  mkdir -p "$home/corpus" "$home/crashes"
  say "fuzzing $name for $seconds s; what breaks it is written to $home/crashes"
  "target/fuzz/$host/fuzz/fuzz-$name" -max_total_time="$seconds" -max_len=4096 -timeout=5 \
    -dict="fuzz/$name.dict" -artifact_prefix="$home/crashes/" -print_final_stats=1 \
    "$home/corpus" "$home/seeds"
}

# Requests made from the description of the API, against the debug program.
fuzz_api() {
  need_to_build
  need_python
  cargo build --bin kurier
  say "fuzzing the API; the first time this installs Schemathesis"
  fuzz/api.sh "$@"
}

# What is not run rots: a short look around the seeds, unguided.
fuzz_shortly() {
  local name
  for name in bundle content parser; do
    fuzz_seeds "$name" "target/fuzz/$name/seeds"
    "${CARGO_TARGET_DIR:-target}/debug/fuzz-$name" -runs=2000 -seed=1 -max_len=2000 -dict="fuzz/$name.dict" \
      -verbosity=0 -artifact_prefix="target/fuzz/$name/" "target/fuzz/$name/seeds"
  done
}
