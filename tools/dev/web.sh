# To be sourced by ./dev: the web interface.

# Without Node, Kurier is built all the same and explains in the browser what is missing.
build_web() {
  [ -f web/package.json ] || return 0
  local newer="" sources
  sources=$(find web -mindepth 1 -maxdepth 1 ! -name node_modules ! -name dist ! -name 'test*')
  [ ! -f web/dist/index.html ] || newer=$(find $sources -type f -newer web/dist/index.html -print -quit)
  [ ! -f web/dist/index.html ] || [ -n "$newer" ] || return 0
  ! can_install || (need npm npm) || true
  command -v npm >/dev/null || { warn_without_web; return 0; }
  say "web interface (about 20 seconds the first time, 5 after a change)"
  install_web_packages
  # Types are checked by ./dev check and ./dev test; here only the pages are bundled.
  (cd web && npm run --silent bundle)
}

install_web_packages() {
  [ web/node_modules -nt web/package-lock.json ] ||
    (cd web && PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 npm ci --no-audit --no-fund --loglevel=error)
}

warn_without_web() {
  say "npm is missing: Kurier is built WITHOUT its web interface; the API works all the same"
  say "for the pages install Node with npm (on Debian: apt-get install npm) and run ./dev run again"
}

check_web() {
  say "web interface: types, format, units"
  install_web_packages
  (cd web && npm run --silent check && npm test --silent)
}

walk_web() { # walk_web [ARGUMENTS OF PLAYWRIGHT]: the pages in a browser, against the debug program
  say "web interface: a walk in Chromium"
  need chromium chromium
  KURIER_BIN="$(target_folder)/debug/kurier" web/e2e.sh "$@"
}
