#!/usr/bin/env bash
# ./dev bench segments [--parts queries,evaluations,freshness] [--size small|large|both] [--rounds N] [--sides NAME,…]
# All that is promised of segments, in parts; without --parts all of them:
#   queries      six segments on Kurier's world and on DuckDB, Polars, ClickHouse and PostgreSQL over the same data,
#                interleaved; the members must be the same everywhere; memory
#   evaluations  one contact against one segment, beside Rust rule engines (bench/evaluations.sh)
#   freshness    from an acknowledged event to the member seen, previews, a restart (bench/freshness.sh)
# --rounds and --sides are the queries'; --size small makes the log of the restart small as well.
set -euo pipefail
cd "$(dirname "$0")/.."
: "${TEST_POSTGRES_URL:?run it as ./dev bench segments}"

parts=queries,evaluations,freshness log=large options=()
while [ $# -gt 0 ]; do
  case $1 in
    --parts) parts=${2:?--parts needs names}; shift 2 ;;
    --parts=*) parts=${1#*=}; shift ;;
    --size) [ "${2:?--size needs a name}" != small ] || log=small; options+=("$1" "$2"); shift 2 ;;
    --size=*) [ "${1#*=}" != small ] || log=small; options+=("$1"); shift ;;
    *) options+=("$1"); shift ;;
  esac
done
for part in ${parts//,/ }; do
  case $part in
    queries|evaluations|freshness) ;;
    *) echo "bench: there is no part $part; there are: queries, evaluations, freshness" >&2; exit 2 ;;
  esac
done
has() { [[ ",$parts," = *",$1,"* ]]; }

ask_queries() {
  . bench/python.sh
  local work
  work=$(mktemp -d /tmp/kurier-bench.XXXXXX)
  trap "rm -rf '$work'" EXIT
  echo "==> build" >&2
  cargo build --profile dist --quiet --package kurier --bin kurier --package kurier-bench --bin kurier-bench
  cp "${CARGO_TARGET_DIR:-target}"/dist/kurier-bench "$work/"
  make_python bench/peers/requirements.txt
  . bench/data.sh "$@"
  "$work/kurier-bench" segments --python "$python" --peers bench/peers --data "$data" \
    --out "$PWD/bench/results/segments.json" "$@"
}

# Two queries of one machine's cores would measure each other: one part after the other.
! has queries || (ask_queries "${options[@]}")
! has evaluations || bench/evaluations.sh
! has freshness || bench/freshness.sh --log "$log"
