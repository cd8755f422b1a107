/**
 * The part of a start in which a replica takes its content from its primary, unless it has that copy: half of one is made anew. A server that
 * follows has to have as many places for some things as its primary had (PostgreSQL's manual, 26.4.3), which the control file tells.
 */
export const TAKE_COPY = `
  export PGPASSFILE="$CPD_SECRETS/primary-password"
  if [ "$(cat "$CPD_VOLUME/copy" 2>/dev/null)" != "$CPD_COPY" ]; then
    rm -rf "$CPD_VOLUME/copy" "$data" "$data.new"
    pg_basebackup --dbname="$CPD_PRIMARY" --no-password --pgdata="$data.new" --slot="$CPD_SLOT" --wal-method=stream --checkpoint=fast \\
      --max-rate=204800 --no-sync
    touch "$data.new/standby.signal"
    sync -f "$data.new"
    mv "$data.new" "$data"
    echo "$CPD_COPY" > "$CPD_VOLUME/copy"
    sync -f "$data"
  fi
  pg_controldata -D "$data" > "$CPD_VOLUME/control"
  for pair in max_connections:max_connections max_worker_processes:max_worker_processes max_wal_senders:max_wal_senders \\
    max_prepared_xacts:max_prepared_transactions max_locks_per_xact:max_locks_per_transaction; do
    needed=$(sed -n "s/^\${pair%:*} setting: *//p" "$CPD_VOLUME/control")
    given=$(postgres -D "$data" -C "\${pair#*:}" -c config_file="$CPD_SECRETS/postgresql.conf")
    if [ "$needed" -gt "$given" ]; then settings="$settings -c \${pair#*:}=$needed"; fi
  done`
