import { ALONE } from '../../datastores/alone.ts'

/**
 * Runs in a sandbox with a volume and a folder of material that it can only read: `chain/0.tar` … are archives of backups, the full one first, and
 * `wal/` holds the log. It makes the cluster beside its place, has the server replay the log up to the target, and puts it in place when the
 * server has been stopped cleanly: what was cut off is made anew, and what is in place stays. Nothing is put together as a shell text.
 *
 * A target later than the last commit ends PostgreSQL's recovery with an error, as it cannot know that nothing is missing. All of the log is what is
 * wanted then. `hot_standby` is off so that settings of the server may be smaller than they were; then the first connection that is let in comes
 * after recovery. Nothing is written through to the disk but at the end, all at once.
 */
export const RESTORE_SCRIPT = `
set -eu
umask 077
${ALONE}
data=$CPD_VOLUME/pgdata
work=$CPD_VOLUME/restore
if [ -s "$data/PG_VERSION" ] && [ -z "\${CPD_DRILL:-}" ]; then exit 0; fi
rm -rf "$work"
mkdir "$work" "$work/chain"
links=''
count=0
while [ -e "$CPD_MATERIAL/chain/$count.tar" ]; do
  mkdir "$work/chain/$count"
  tar -xf "$CPD_MATERIAL/chain/$count.tar" -C "$work/chain/$count"
  links="$links $work/chain/$count"
  count=$((count + 1))
done
if [ "$count" = 1 ]; then
  mv "$work/chain/0" "$work/data"
else
  pg_combinebackup --no-sync \${CPD_CAN_LINK:+--link} --output="$work/data" $links
fi
rm -rf "$work/chain"
chmod 700 "$work/data"
touch "$work/data/recovery.signal"
rm -f "$work/data/postmaster.pid" "$work/data/standby.signal"
echo 'local all all trust' > "$work/hba"
: > "$work/postgresql.conf"
: > "$work/ident"
sockets=$(mktemp -d /tmp/restore.XXXXXX)
trap 'rm -rf "$sockets"' EXIT
server=''
trap 'kill -INT "$server" 2>/dev/null || true; exit 143' TERM INT

start() {
  postgres -D "$work/data" -c config_file="$work/postgresql.conf" -c hba_file="$work/hba" -c ident_file="$work/ident" -c listen_addresses= \\
    -c unix_socket_directories="$sockets" -c hot_standby=off -c archive_mode=off -c fsync=off -c autovacuum=off -c lc_messages=C \\
    -c shared_buffers="$CPD_SHARED_BUFFERS" -c max_connections=10 -c max_wal_senders=0 -c wal_level=replica -c timezone=UTC \\
    -c max_prepared_transactions=100 -c restore_command='cp "$CPD_MATERIAL/wal/%f" "%p" 2>/dev/null' \\
    -c recovery_target_timeline=latest -c recovery_target_action=promote "$@" > "$work/log" 2>&1 &
  server=$!
}

ask() {
  psql -X -q -At -w -h "$sockets" -U "$CPD_ADMIN" -v ON_ERROR_STOP=1 "$@"
}

# Returns when the server lets somebody in; fails when it has ended.
await_server() {
  until ask -d postgres -c 'SELECT 1' >/dev/null 2>&1; do
    kill -0 "$server" 2>/dev/null || return 1
    sleep 0.05
  done
}

case "$CPD_TARGET" in
  latest) start ;;
  immediate) start -c recovery_target=immediate ;;
  *) start -c recovery_target_time="$CPD_TARGET" ;;
esac
if ! await_server; then
  grep -q 'recovery ended before configured recovery target was reached' "$work/log" || { cat "$work/log"; exit 1; }
  start
  await_server || { cat "$work/log"; exit 1; }
fi
cat "$work/log"
if [ -n "\${CPD_DRILL:-}" ]; then
  ask -d postgres -c "SELECT quote_ident(datname) FROM pg_database WHERE datallowconn AND NOT datistemplate" > "$work/databases"
  while read -r database; do
    ask -d "$database" > "$work/counts" <<'SQL'
SELECT format('SELECT count(*) FROM %I.%I', n.nspname, c.relname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'm') AND c.relpersistence = 'p' ORDER BY c.oid
\\gexec
SQL
    echo "cpd-drill: $database $(wc -l < "$work/counts") tables $(awk '{ rows += $1 } END { printf "%.0f", rows }' "$work/counts") rows"
  done < "$work/databases"
else
  ask -d postgres -f "$CPD_SECRETS/finish.sql"
fi
ask -d postgres -c CHECKPOINT
kill -INT "$server"
code=0
wait "$server" || code=$?
[ "$code" = 0 ] || { cat "$work/log"; exit "$code"; }
if [ -z "\${CPD_DRILL:-}" ]; then
  rm -f "$work/data/recovery.signal"
  sync -f "$work/data"
  rm -rf "$data"
  mv "$work/data" "$data"
  sync -f "$data"
fi
rm -rf "$work"
`
