#!/bin/sh
# Builds the pages and walks through them in a real Chromium against a real kurier.
#   KURIER_BIN   the program to test (default ../target/debug/kurier)
#   CHROMIUM     the browser (default /usr/bin/chromium, which is installed if it is missing)
#   SCREENSHOTS  a folder for pictures of every page; none are taken without it
# Arguments go on to Playwright, such as the name of a test file.
set -eu
cd "$(dirname "$0")"

browser=${CHROMIUM:-/usr/bin/chromium}
if [ ! -x "$browser" ]; then
  if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
    apt-get install -y --no-install-recommends chromium
  else
    echo "e2e: there is no $browser; install Chromium, or say where it is with CHROMIUM" >&2
    exit 1
  fi
fi

# The walk needs no browser of Playwright's own.
[ -d node_modules ] || PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 npm ci
npm run build
exec npx playwright test -c e2e/playwright.config.ts "$@"
