# To be sourced: makes $python, a Python that has the packages of a requirements file; made once
# and kept under target/.
make_python() { # make_python REQUIREMENTS
  local home="${CARGO_TARGET_DIR:-target}/bench/python-$(basename "$1" .txt)"
  python="$PWD/$home/bin/python"
  [[ $home = /* ]] && python="$home/bin/python"
  if ! cmp -s "$1" "$home/installed.txt"; then
    echo "==> Python packages of $1" >&2
    rm -rf "$home"
    python3 -m venv "$home" ||
      { echo "bench: 'python3 -m venv' does not work here: install Python 3 with venv" >&2; return 1; }
    "$python" -m pip install --quiet --disable-pip-version-check -r "$1" >&2 ||
      { echo "bench: the packages of $1 cannot be installed: is there a way to PyPI?" >&2; return 1; }
    cp "$1" "$home/installed.txt"
  fi
}
