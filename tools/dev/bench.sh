# To be sourced by ./dev: benchmarks.

bench() {
  if [ $# = 0 ]; then ls bench/*.sh 2>/dev/null | sed 's|bench/\(.*\)\.sh|\1|'; return; fi
  [ -x "bench/$1.sh" ] || die "there is no bench/$1.sh"
  start_services
  local name=$1 strict="" option options=(); shift
  for option in "$@"; do
    if [ "$option" = --strict ]; then strict=yes; else options+=("$option"); fi
  done
  touch "$SERVICES/began"
  "bench/$name.sh" "${options[@]}"
  say_missed || [ -z "$strict" ] || die "targets were missed"
}

# Whatever was measured in this run is looked at: a benchmark may have several parts.
say_missed() {
  local results missed
  mapfile -t results < <(find bench/results -name '*.json' -newer "$SERVICES/began" 2>/dev/null)
  [ ${#results[@]} -gt 0 ] || return 0
  missed=$(jq -r 'select(.verdicts) | .verdicts[] | select(.pass | not)
    | "MISS  \(.target): \(.found) found, \(.needed) needed"' "${results[@]}") || return 1
  [ -n "$missed" ] || { say "all targets were met"; return 0; }
  say "missed targets"; printf '%s\n' "$missed"
  return 1
}
