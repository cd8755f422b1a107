/**
 * Scripts that run in a sandbox with a database's volume. All that differs comes in variables: nothing is put together as a shell text.
 *
 * A cluster is made beside its place and renamed, so that one which was cut off is made anew. It has a database already, and in it what takes
 * time to make and would fill the server's memory, under a name that it keeps until its owner is known.
 */
import { ALONE } from '../datastores/alone.ts'
import { TAKE_COPY } from './copy-script.ts'
import { NEW_DATABASE } from './roles.ts'

export const CLUSTER_SCRIPT = `
set -eu
umask 077
${ALONE}
data=$CPD_VOLUME/pgdata
if [ -s "$data/PG_VERSION" ]; then exit 0; fi
rm -rf "$data.new"
initdb --pgdata="$data.new" --username="$CPD_ADMIN" --pwfile="$CPD_SECRETS/admin-password" --auth=scram-sha-256 \\
  --encoding=UTF8 --locale=C \${CPD_LOCALE_PROVIDER:+--locale-provider="$CPD_LOCALE_PROVIDER" --builtin-locale=C.UTF-8} \\
  --data-checksums --no-sync --no-instructions >/dev/null
single() {
  postgres --single -j -D "$data.new" -c exit_on_error=on -c log_min_messages=fatal -c fsync=off "$1" >/dev/null
}
echo "CREATE DATABASE ${NEW_DATABASE} $CPD_STRATEGY;" | single postgres
echo "CREATE EXTENSION pg_stat_statements WITH SCHEMA public;" | single ${NEW_DATABASE}
sync -f "$data.new"
mv "$data.new" "$data"
sync -f "$data"
`

/**
 * The link `owner` names the database that a volume belongs to: a list of spares out of an older copy of our own rows may name volumes that
 * were adopted since. A ballast of 64 MB keeps that room on the disk: it is given up where too little is left for recovery to write, and
 * taken back, in part if need be, when the server is up and has removed what recovery needed. A server that ends on a disk without room and
 * without ballast says so by its exit code. A stop asks the server to end its connections, which SIGTERM alone would wait for.
 * A pooler runs beside the server, and is started again when it ends.
 * What followed a primary and does so no more replays what it has, and begins a time line of its own.
 */
export const START_SCRIPT = `
set -eu
umask 077
data=$CPD_VOLUME/pgdata
ballast=$CPD_VOLUME/ballast
ln -sn "$CPD_ID" "$CPD_VOLUME/owner" 2>/dev/null || true
owner=$(readlink "$CPD_VOLUME/owner") || owner=$CPD_ID
if [ "$owner" != "$CPD_ID" ]; then
  echo "This disk is that of $owner: make another database, and delete this one." >&2
  exit 1
fi
${ALONE}
settings=''
if [ -n "\${CPD_PRIMARY:-}" ]; then
${TAKE_COPY}
elif [ ! -s "$data/PG_VERSION" ]; then
  echo "The data of this database is gone from its disk: recover it from its backups into a new one." >&2
  exit 1
else
  if [ -e "$data/standby.signal" ]; then mv "$data/standby.signal" "$data/recovery.signal"; fi
  if [ -e "$data/recovery.signal" ]; then settings='-c restore_command=false -c hot_standby=off'; fi
fi
free_mb() {
  set -- $(stat -f -c '%a %S' "$CPD_VOLUME")
  echo $(($1 * $2 / 1048576))
}
ballast_mb() {
  if [ -e "$ballast" ]; then echo $(($(stat -c %s "$ballast") / 1048576)); else echo 0; fi
}
keep_ballast() {
  until grep -qE '^(ready|standby)' "$data/postmaster.pid" 2>/dev/null; do sleep 1; done
  while has=$(ballast_mb); [ "$has" -lt 64 ]; do
    wants=$((has + $(free_mb) - 24))
    [ "$wants" -le 64 ] || wants=64
    [ "$wants" -lt $((has + 8)) ] || fallocate --length "\${wants}MiB" "$ballast" || true
    [ "$wants" -ge 64 ] || sleep 2
  done
}
[ "$(free_mb)" -ge 48 ] || rm -f "$ballast"
rm -f "$data/postmaster.pid" "$CPD_VOLUME/live.conf"
[ "$(ballast_mb)" -ge 64 ] || keep_ballast 9<&- &
postgres -D "$data" -c config_file="$CPD_SECRETS/postgresql.conf" -c hba_file="$CPD_SECRETS/pg_hba.conf" \\
  -c listen_addresses="$CPD_LISTEN" -c port="$PORT" \\
  \${CPD_PRIMARY:+-c primary_conninfo="$CPD_PRIMARY" -c primary_slot_name="$CPD_SLOT"} $settings &
server=$!
pooler=
pool() {
  cd "$CPD_SECRETS"
  trap 'kill -KILL "$running"; exit' TERM
  while :; do
    "$CPD_POOLER" --quiet pgbouncer.ini &
    running=$!
    wait "$running" || true
    sleep 1
  done
}
if [ -n "$CPD_POOLER" ]; then
  pool 9<&- &
  pooler=$!
fi
trap 'kill -INT "$server" 2>/dev/null || true' TERM INT
while :; do
  code=0
  wait "$server" || code=$?
  kill -0 "$server" 2>/dev/null && continue
  if [ "$code" -ne 0 ] && [ "$(free_mb)" -lt 24 ] && [ "$(ballast_mb)" -lt 24 ]; then code=$CPD_DISK_FULL_EXIT; fi
  break
done
if [ -n "$pooler" ]; then kill "$pooler" && wait "$pooler" || true; fi
exit "$code"
`
