# To be sourced by ./dev: the tests, by part.

PARTS="all core store server web slow"

test_command() { # test_command [PART] [FILTER AND OPTIONS OF NEXTEST]
  local part=all
  if grep -qwF -- "${1:--}" <<<"$PARTS"; then part=$1; shift; fi
  need_to_build
  TEST_MARK=$(mktemp)
  "test_$part" "$@"
  print_slowest
  say "all good"
}

lint() {
  say "format"; cargo fmt --all --check
  say "lints"; run_clippy
}

run_clippy() { cargo clippy --workspace --all-targets --quiet -- -D warnings; }

# Everything but `slow`, as CI runs it.
test_all() {
  need npm npm
  need kill procps
  build_web
  if [ $# -gt 0 ]; then
    start_test_services
    run_tests default --workspace "$@"
    return
  fi
  say "format"; cargo fmt --all --check
  begin_beside "web interface: types, format, units" check_web
  say "build, with the checks of the web interface beside it"
  cargo build --workspace --bins --quiet
  build_tests
  wait_beside
  start_test_services
  # Tests wait for timers and disks half of the time.
  begin_beside "lints" run_clippy
  say "tests, with the lints beside them"; run_built_tests || { kill "$BESIDE_PROCESS" 2>/dev/null || true; exit 1; }
  wait_beside
  say "differential: the same members as in DuckDB"; bench/differential.sh
  say "differential: the same keys by a second implementation"; bench/keys.sh
  walk_web
  say "fuzzers"; fuzz_shortly
  say "fuzzer: requests made from the API's description"; fuzz/api.sh
  test_docs
}

# Neither services nor a browser.
test_core() {
  run_tests default --package kurier-core --package kurier-fuzz "$@"
  [ $# = 0 ] || return 0
  say "fuzzers"
  cargo build --quiet --package kurier-fuzz --bins
  fuzz_shortly
}

test_store() {
  start_test_services
  run_tests default --package kurier-store "$@"
}

test_server() {
  need kill procps
  build_web
  start_test_services
  run_tests default --package kurier --package kurier-bench "$@"
  [ $# = 0 ] || return 0
  say "differential: the same members as in DuckDB"; bench/differential.sh
  say "differential: the same keys by a second implementation"; bench/keys.sh
  say "fuzzer: requests made from the API's description"; fuzz/api.sh
}

test_web() {
  build_web
  [ $# -gt 0 ] || check_web
  cargo build --bin kurier
  walk_web "$@"
}

# Tortures, long loads and kill rounds; the output is kept.
test_slow() {
  local log
  need kill procps
  build_web
  start_test_services
  log=$(target_folder)/slow-test.log
  say "slow tests; the output is kept in $log"
  run_tests slow --workspace "$@" 2>&1 | tee "$log"
}

test_docs() {
  say "doc tests"; cargo test --workspace --doc --quiet
  say "docs"; RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --document-private-items --quiet
}

begin_beside() { # begin_beside NAME CMD...
  BESIDE=$1; shift
  BESIDE_LOG=$(mktemp)
  "$@" >"$BESIDE_LOG" 2>&1 &
  BESIDE_PROCESS=$!
}

wait_beside() {
  local failed=""
  wait "$BESIDE_PROCESS" || failed=yes
  say "$BESIDE"; cat "$BESIDE_LOG" >&2; rm -f "$BESIDE_LOG"
  [ -z "$failed" ] || die "failed: $BESIDE"
}

# Notes where the programs are: cargo would wait for the lints, which have its lock, before it looked.
build_tests() {
  need_nextest
  has_nextest || { cargo test --workspace --no-run --quiet; return; }
  BUILT=$(mktemp -d)
  cargo metadata --format-version 1 >"$BUILT/packages"
  cargo nextest list --workspace --cargo-quiet --list-type binaries-only --message-format json >"$BUILT/programs"
}

run_built_tests() {
  has_nextest || { run_tests default --workspace; return; }
  run_tests default --cargo-metadata "$BUILT/packages" --binaries-metadata "$BUILT/programs" || return
  rm -rf "$BUILT"
}

run_tests() { # run_tests PROFILE OPTIONS...
  local profile=$1; shift
  need_nextest
  # A test and its server wait for each other: one and a half for each core keep it busy.
  if has_nextest; then cargo nextest run --profile "$profile" --test-threads "$(($(nproc) * 3 / 2))" "$@"; else plain_tests "$@"; fi
}

has_nextest() { command -v cargo-nextest >/dev/null; }

need_nextest() {
  has_nextest && return
  say "installing cargo-nextest, which takes about 6 minutes on two cores, once"
  cargo install --locked cargo-nextest || say "it cannot be installed: cargo test is used instead"
}

# cargo test knows neither profiles nor limits of time: a filter is all that is passed on.
plain_tests() {
  local option options=()
  for option in "$@"; do
    case $option in --no-tests|pass) ;; *) options+=("$option") ;; esac
  done
  cargo test "${options[@]}"
}

# From the reports that this run has written.
print_slowest() {
  local reports
  reports=$(find "$(target_folder)/nextest" -name junit.xml -newer "$TEST_MARK" 2>/dev/null)
  rm -f "$TEST_MARK"
  [ -z "$reports" ] || { say "the ten slowest tests"; python3 tools/dev/slowest.py $reports >&2; }
}
