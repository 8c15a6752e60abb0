# To be sourced by ./dev: build and serve.

run_demo() {
  local background=""
  if [ "${1:-}" = --background ]; then background=yes; shift; fi
  if [ -n "$background" ] && is_running; then
    say "it runs already, as process $(cat "$(pid_file)"); ./dev stop ends it"
    return
  fi
  build_demo
  if [ -n "$background" ]; then serve_in_background "$@"; else serve_here "$@"; fi
}

build_demo() {
  say "needed to build"; show_needs
  command -v cargo >/dev/null || die "cargo is missing"
  need cc gcc
  build_web
  say "program (the first build takes about 4 minutes on two cores; after a change it is less than one)"
  cargo build --profile demo --bin kurier
}

demo_program() { printf '%s/demo/kurier' "$(target_folder)"; }
data_folder() { printf '%s' "${KURIER_DATA:-data}"; }
pid_file() { printf '%s/dev.pid' "$(data_folder)"; }

serve_here() {
  say "demo; Ctrl-C stops it, its data stays in $(data_folder)"
  exec "$(demo_program)" serve --demo --data "$(data_folder)" "$@"
}

# Returns when the server answers. The log is the owner's alone: a first start writes its keys there.
serve_in_background() {
  local log
  log=$(data_folder)/dev.log
  mkdir -p "$(data_folder)"
  (
    umask 077
    # An older log must not be taken for the answer of this start.
    : >"$log"
    nohup setsid "$(demo_program)" serve --demo --data "$(data_folder)" "$@" >"$log" 2>&1 </dev/null &
    printf '%s\n' "$!" >"$(pid_file)"
  )
  until grep -q '^listening on ' "$log"; do
    kill -0 "$(cat "$(pid_file)")" 2>/dev/null || die "the server ended: $(grep -vE '^[0-9]{4}-' "$log")"
    read -rt 0.05 <> <(:) || true
  done
  grep -vE '^[0-9]{4}-' "$log" || true
  say "it runs in the background; its log is $log, ./dev stop ends it"
}

is_running() {
  [ -s "$(pid_file)" ] || return 1
  # A number that another program has by now does not count.
  [[ $(ps -p "$(cat "$(pid_file)")" -o comm= 2>/dev/null) = *kurier ]]
}

stop_background() {
  is_running || { say "nothing runs in the background on $(data_folder)"; return; }
  local process
  process=$(cat "$(pid_file)")
  kill "$process"
  while kill -0 "$process" 2>/dev/null; do read -rt 0.05 <> <(:) || true; done
  rm -f "$(pid_file)"
  say "stopped; the data stays in $(data_folder)"
}

# The program of a release, its symbols in a file of their own beside it.
build_dist() {
  build_web
  say "program as it is released (about 10 minutes on two cores)"
  cargo build --profile dist --bin kurier
  local folder
  folder=$(target_folder)/dist
  split_symbols "$folder/kurier"
  ls -l "$folder/kurier" "$folder/kurier.debug" >&2
}

split_symbols() { # split_symbols PROGRAM
  need objcopy binutils
  # A program whose symbols are gone already keeps the file that was made from them.
  objdump --section-headers "$1" | grep -q ' \.debug_info ' || return 0
  objcopy --only-keep-debug --compress-debug-sections "$1" "$1.debug"
  (cd "$(dirname "$1")" && objcopy --strip-all --add-gnu-debuglink=kurier.debug kurier)
}
