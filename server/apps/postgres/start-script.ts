/**
 * Runs in the sandbox of a database. All that differs comes in variables: nothing is put together as a shell text.
 *
 * The first start makes the cluster beside its place and renames it, so that one which was cut off is made anew. A file of 64 MB keeps that room
 * on the disk: it is given up where too little is left for recovery to write, and taken back at a start with room. A stop asks the
 * server to end its connections, which SIGTERM alone would wait for.
 */
export const START_SCRIPT = `
set -eu
umask 077
data=$CPD_VOLUME/pgdata
ballast=$CPD_VOLUME/ballast
if [ ! -s "$data/PG_VERSION" ]; then
  rm -rf "$data.new"
  initdb --pgdata="$data.new" --username="$CPD_ADMIN" --pwfile="$CPD_SECRETS/admin-password" --auth=scram-sha-256 \\
    --encoding=UTF8 --locale=C \${CPD_LOCALE_PROVIDER:+--locale-provider="$CPD_LOCALE_PROVIDER" --builtin-locale=C.UTF-8} \\
    --data-checksums --no-sync --no-instructions >/dev/null
  sync -f "$data.new"
  mv "$data.new" "$data"
  sync -f "$data"
fi
set -- $(stat -f -c '%a %S' "$CPD_VOLUME")
free=$(($1 * $2 / 1048576))
if [ "$free" -lt 48 ]; then
  rm -f "$ballast"
elif [ ! -e "$ballast" ] && [ "$free" -gt 192 ]; then
  fallocate --length 64MiB "$ballast" || rm -f "$ballast"
fi
rm -f "$data/postmaster.pid"
postgres -D "$data" -c config_file="$CPD_SECRETS/postgresql.conf" -c hba_file="$CPD_SECRETS/pg_hba.conf" \\
  -c listen_addresses="$CPD_LISTEN" -c port="$PORT" &
server=$!
trap 'kill -INT "$server" 2>/dev/null || true' TERM INT
while :; do
  code=0
  wait "$server" || code=$?
  kill -0 "$server" 2>/dev/null || exit "$code"
done
`
