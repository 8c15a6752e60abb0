# To be sourced by ./dev: how long building, checking and testing take. Nothing else should run meanwhile.

measure() {
  [ "${1:-}" = build ] || die "measure what? there is: build [--tests] [--dist]"
  shift
  local option tests="" dist=""
  for option in "$@"; do
    case $option in
      --tests) tests=yes ;;
      --dist) dist=yes ;;
      *) die "unknown: $option; --tests adds a cold ./dev test, --dist the size of the released program" ;;
    esac
  done
  need_to_build
  MEASURED=$(mktemp -d /tmp/kurier-measure.XXXXXX)
  FIGURES=$MEASURED/figures
  trap 'stop_measured; print_figures; rm -rf "$MEASURED"' EXIT
  measure_first_run
  measure_edits
  measure_core
  measure_packages
  [ -z "$tests" ] || measure_cold_tests
  [ -z "$dist" ] || measure_dist
}

# A clone with caches of its own, all of them empty.
measure_first_run() {
  git clone --quiet . "$MEASURED/clone"
  export CARGO_HOME=$MEASURED/cargo npm_config_cache=$MEASURED/npm CARGO_TARGET_DIR=$MEASURED/clone/target
  KURIER_BOOTSTRAP_WRITE_KEY=write-key-to-measure KURIER_BOOTSTRAP_ADMIN_KEY=admin-key-to-measure
  export KURIER_BOOTSTRAP_WRITE_KEY KURIER_BOOTSTRAP_ADMIN_KEY
  measure_listening "clone, empty caches -> listening" 360
  measure_listening "second start without changes" 3
}

measure_edits() {
  local name
  for name in kurier-core kurier-store kurier; do
    edit_crate "$name"
    measure_listening "edit in $name -> listening" 60
  done
}

measure_core() {
  (cd "$MEASURED/clone" && ./dev test core --no-run && git commit --quiet --all --message Measured) >"$MEASURED/log" 2>&1 ||
    die "the tests of core do not compile: $(tail "$MEASURED/log")"
  edit_crate kurier-core
  measure_command "edit in kurier-core -> its tests' answer" 20 ./dev test core --lib
  measure_command "first ./dev check" 0 ./dev check
  edit_crate kurier-core
  measure_command "edit in kurier-core -> ./dev check, warm" 60 ./dev check
}

measure_cold_tests() {
  rm -rf "$MEASURED/clone/target"
  measure_command "./dev test, cold" 1500 ./dev test
}

measure_dist() {
  measure_command "./dev dist" 0 ./dev dist
  local bytes
  bytes=$(stat -c %s "$MEASURED/clone/target/dist/kurier")
  figure "released program, stripped, MB" "$(awk "BEGIN { printf \"%.1f\", $bytes / 1e6 }")" 32
}

measure_packages() {
  local count
  count=$(cargo tree --locked -p kurier -e normal --prefix none | sed 's/ (\*)//' | sort -u | wc -l)
  figure "packages that run in it" "$count" 270
}

# A new function in the interface: whatever depends on the crate is compiled again.
edit_crate() { # edit_crate NAME
  printf '\n/// Measured.\npub const fn measured_%s() -> u32 {\n    0\n}\n' "$RANDOM$RANDOM" \
    >>"$MEASURED/clone/crates/$1/src/lib.rs"
}

measure_listening() { # measure_listening NAME TARGET
  local began=$EPOCHREALTIME log=$MEASURED/log
  (cd "$MEASURED/clone" && exec ./dev run --listen 127.0.0.1:0) >"$log" 2>&1 &
  SERVER=$!
  until grep -q '^listening on' "$log"; do
    kill -0 "$SERVER" 2>/dev/null || die "./dev run ended: $(tail "$log")"
    read -rt 0.05 <> <(:) || true
  done
  figure "$1, s" "$(seconds_since "$began")" "$2"
  stop_measured
}

stop_measured() {
  [ -n "${SERVER:-}" ] || return 0
  kill "$SERVER" 2>/dev/null || true
  wait "$SERVER" 2>/dev/null || true
  SERVER=""
}

measure_command() { # measure_command NAME TARGET CMD...
  local name=$1 target=$2 began=$EPOCHREALTIME; shift 2
  (cd "$MEASURED/clone" && "$@") >"$MEASURED/log" 2>&1 || die "$* failed: $(tail -n 30 "$MEASURED/log")"
  figure "$name, s" "$(seconds_since "$began")" "$target"
}

seconds_since() { awk "BEGIN { printf \"%.1f\", $EPOCHREALTIME - $1 }"; }

figure() { # figure NAME FOUND NEEDED: 0 for a figure without a target
  printf '%s\t%s\t%s\n' "$1" "$2" "$3" >>"$FIGURES"
  say "$1: $2"
}

print_figures() { # also of a measurement that was broken off
  [ -s "$FIGURES" ] || return 0
  printf '\n%-46s %10s %10s\n' figure found target
  awk -F '\t' '{ verdict = $3 == 0 ? "" : $2 <= $3 ? "met" : "MISS"
    printf "%-46s %10s %10s  %s\n", $1, $2, $3 == 0 ? "-" : $3, verdict }' "$FIGURES"
}
