#!/usr/bin/env bash
# ./dev bench segments [--size small|large|both] [--rounds N] [--sides NAME,…]
# Six segments on Kurier's world and on DuckDB, Polars, ClickHouse and PostgreSQL over the same
# data, all in one run, interleaved; the members must be the same everywhere.
set -euo pipefail
cd "$(dirname "$0")/.."
: "${TEST_POSTGRES_URL:?run it as ./dev bench segments}"
. bench/python.sh

work=$(mktemp -d /tmp/kurier-bench.XXXXXX)
trap 'rm -rf "$work"' EXIT

echo "==> build" >&2
cargo build --release --quiet --package kurier --bin kurier --package kurier-bench --bin kurier-bench
cp "${CARGO_TARGET_DIR:-target}"/release/kurier-bench "$work/"
make_python bench/peers/requirements.txt

# The data is the same in every run; it is made once.
data="${CARGO_TARGET_DIR:-target}/bench/segments"
make_data() { # make_data SIZE CONTACTS EVENTS
  [ -e "$data/$1/done" ] && return
  echo "==> data: $1" >&2
  rm -rf "${data:?}/$1"
  "$python" bench/peers/segments/data.py "$2" "$3" "$data/$1"
}
case " $* " in *" large "*|*"=large "*) ;; *) make_data small 100000 2000000 ;; esac
case " $* " in *" small "*|*"=small "*) ;; *) make_data large 1000000 20000000 ;; esac

"$work/kurier-bench" segments --python "$python" --peers bench/peers --data "$data" \
  --out "$PWD/bench/results/segments.json" "$@"
