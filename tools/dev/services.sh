# To be sourced by ./dev: private servers on free ports, in temporary folders.

SERVICES=""

# PostgreSQL refuses to run as root: there it runs as another user.
as_postgres() {
  if [ "$(id -u)" = 0 ]; then
    id postgres >/dev/null 2>&1 || useradd --system --no-create-home postgres
    setpriv --reuid=postgres --regid=postgres --clear-groups "$@"
  else
    "$@"
  fi
}

start_postgres() {
  local bin port
  [ -n "$(postgres_bin)" ] || need initdb postgresql
  bin=$(postgres_bin)
  [ -n "$bin" ] || die "the PostgreSQL server programs (initdb, pg_ctl) are missing: install postgresql"
  port=$(free_port)
  mkdir "$SERVICES/pg"
  [ "$(id -u)" != 0 ] || { id postgres >/dev/null 2>&1 || useradd --system --no-create-home postgres; chown postgres "$SERVICES/pg"; }
  chmod 755 "$SERVICES"
  (cd "$SERVICES/pg" && as_postgres "$bin/initdb" -D "$SERVICES/pg/data" -U postgres -A trust -E UTF8 --locale=C.UTF-8 >"$SERVICES/pg-init.log") ||
    die "initdb failed: $(cat "$SERVICES/pg-init.log")"
  (cd "$SERVICES/pg" && as_postgres "$bin/pg_ctl" -D "$SERVICES/pg/data" -w -l "$SERVICES/pg/log" \
    -o "-p $port -c listen_addresses=127.0.0.1 -c unix_socket_directories=$SERVICES/pg -c max_connections=200 -c shared_buffers=256MB -c max_wal_size=2GB ${POSTGRES_OPTIONS:-}" start >/dev/null) ||
    die "PostgreSQL did not start: $(cat "$SERVICES/pg/log")"
  export TEST_POSTGRES_URL="postgres://postgres@127.0.0.1:$port/postgres"
}

until_true() { # until_true CMD...: asks again and again, for ten seconds at most
  for _ in $(seq 200); do
    "$@" >/dev/null 2>&1 && return
    read -rt 0.05 <> <(:) || true
  done
  return 1
}

redis_server() { # redis_server NAME PORT OPTIONS...
  local name=$1 port=$2; shift 2
  redis-server --port "$port" --bind 127.0.0.1 --save '' --appendonly no --dir "$SERVICES" "$@" \
    --daemonize yes --pidfile "$SERVICES/$name.pid" --logfile "$SERVICES/$name.log" >/dev/null
  until_true redis-cli -p "$port" ping || die "Redis did not start: $(cat "$SERVICES/$name.log")"
}

start_redis() {
  local port
  need redis-server redis-server
  port=$(free_port)
  redis_server redis "$port"
  export TEST_REDIS_URL="redis://127.0.0.1:$port"
}

# All nodes must agree on all slots: one that has not heard of another yet redirects wrongly.
cluster_is_whole() { # cluster_is_whole PORT...
  local port all
  all=$(IFS='|'; printf '%s' "$*")
  for port in "$@"; do
    redis-cli -p "$port" cluster info | tr -d '\r' | grep -qx cluster_state:ok || return 1
    [ "$(redis-cli -p "$port" cluster slots | grep -cxE "$all")" = $# ] || return 1
  done
}

start_redis_cluster() {
  local ports=() buses=() slots=("0 5460" "5461 10922" "10923 16383") at
  for at in 0 1 2; do
    ports+=("$(free_port)"); buses+=("$(free_port)")
    redis_server "cluster-$at" "${ports[at]}" --cluster-enabled yes --cluster-port "${buses[at]}" \
      --cluster-config-file "cluster-$at.conf" --cluster-node-timeout 15000
    redis-cli -p "${ports[at]}" cluster addslotsrange ${slots[at]} >/dev/null
    redis-cli -p "${ports[at]}" cluster set-config-epoch $((at + 1)) >/dev/null
    [ "$at" = 0 ] || redis-cli -p "${ports[at]}" cluster meet 127.0.0.1 "${ports[0]}" "${buses[0]}" >/dev/null
  done
  until_true cluster_is_whole "${ports[@]}" || die "the Redis Cluster did not form: $(cat "$SERVICES"/cluster-*.log)"
  export TEST_REDIS_CLUSTER_URL="redis+cluster://127.0.0.1:${ports[0]},127.0.0.1:${ports[1]}"
}

# Tests end Kurier's processes, never the database's: what a power cut does to PostgreSQL is its own matter.
start_test_services() {
  POSTGRES_OPTIONS="-c fsync=off -c full_page_writes=off ${POSTGRES_OPTIONS:-}" start_services
}

start_services() {
  need curl curl
  need jq jq
  need openssl openssl
  need_python
  SERVICES=$(mktemp -d /tmp/kurier-dev.XXXXXX)
  trap stop_services EXIT
  start_postgres
  start_redis
  start_redis_cluster
}

stop_services() {
  local pidfile
  [ -n "$SERVICES" ] || return 0
  for pidfile in "$SERVICES"/*.pid; do
    [ -f "$pidfile" ] && kill "$(cat "$pidfile")" 2>/dev/null || true
  done
  [ -d "$SERVICES/pg/data" ] && (cd "$SERVICES/pg" && as_postgres "$(postgres_bin)/pg_ctl" -D "$SERVICES/pg/data" -m immediate stop >/dev/null 2>&1) || true
  rm -rf "$SERVICES"
  SERVICES=""
}
