# To be sourced by ./dev: programs that must be there.

can_install() { [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; }

install_package() { # install_package PACKAGE PURPOSE
  can_install || die "$2 is missing: install the package $1 (only root on a Debian system can do that from here)"
  say "installing $1 (for $2)"
  apt-get update -qq >&2 || true
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$1" >/dev/null 2>&1 ||
    die "$2 is missing and 'apt-get install $1' failed: install it by hand"
}

# A builtin of the shell is no program: tests start the program itself.
need() { # need PROGRAM PACKAGE
  type -P "$1" >/dev/null || install_package "$2" "$1"
}

# Debian's Python comes without what makes an environment of packages.
need_python() {
  need python3 python3
  python3 -c 'import ensurepip, venv' 2>/dev/null || install_package python3-venv "Python's venv"
}

# What compiles and checks, beyond the Rust toolchain: the fuzzers are partly C++.
need_to_build() {
  need cc gcc
  need c++ g++
  need git git
}

postgres_bin() {
  local found
  found=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
  if [ -z "$found" ] && command -v initdb >/dev/null; then
    found=$(dirname "$(readlink -f "$(command -v initdb)")")
  fi
  printf '%s' "$found"
}

is_port_taken() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# Below those the kernel gives to outgoing connections; none is named twice in one run.
free_port() {
  local port
  for _ in $(seq 100); do
    port=$((16000 + RANDOM % 16000))
    grep -qsx "$port" "$SERVICES/ports" || is_port_taken "$port" || {
      printf '%s\n' "$port" | tee -a "$SERVICES/ports"
      return
    }
  done
  die "no free port was found"
}

# The programs that ./dev run uses, and whether they are here.
show_needs() {
  need_line Rust "$(cargo --version 2>/dev/null)" "needed: install Rust 1.95 or newer with rustup"
  need_line "C compiler" "$(cc --version 2>/dev/null | head -n 1)" "needed for SQLite: apt-get install gcc"
  need_line Node "$(node_versions)" "the pages are left out without it: apt-get install npm"
}

node_versions() {
  command -v node >/dev/null && command -v npm >/dev/null || return 0
  printf 'node %s, npm %s' "$(node --version)" "$(npm --version)"
}

need_line() { # need_line NAME FOUND ADVICE
  printf '  %-11s %s\n' "$1" "${2:-MISSING: $3}" >&2
}
