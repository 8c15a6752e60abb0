# To be sourced by ./dev: the answer while working.

check() {
  local files packages
  files=$(changed_files)
  [ -n "$files" ] || { say "nothing has changed"; return; }
  say "format"; cargo fmt --all --check
  if grep -qE '\.(rs|toml|sql)$|^Cargo\.lock$' <<<"$files"; then
    say "lints"; cargo clippy --workspace --all-targets --quiet -- -D warnings
    packages=$(changed_packages "$files")
    say "unit tests of $(tr '\n' ' ' <<<"$packages")"
    check_units $packages
  fi
  ! grep -q '^web/' <<<"$files" || check_web
  say "checked; ./dev test is the whole answer"
}

# What differs from the last commit; on a clean tree, what that commit changed.
changed_files() {
  local files
  files=$(git diff --name-only HEAD; git ls-files --others --exclude-standard)
  [ -n "$files" ] || files=$(git diff --name-only HEAD~1 HEAD)
  printf '%s' "$files"
}

changed_packages() { # changed_packages FILES
  grep -qE '^Cargo\.(toml|lock)$' <<<"$1" && { printf 'kurier-core\nkurier-store\nkurier\n'; return; }
  sed -nE 's#^crates/([^/]+)/.*#\1#p; s#^(bench|fuzz)/.*\.rs$#kurier-\1#p' <<<"$1" | sort -u
}

check_units() { # check_units PACKAGE...
  [ $# -gt 0 ] || return 0
  local package options=()
  for package in "$@"; do options+=(--package "$package"); done
  run_tests default "${options[@]}" --lib --bins --no-tests pass
}
