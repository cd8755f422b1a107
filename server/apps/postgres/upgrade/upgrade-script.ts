import { ALONE } from '../../datastores/alone.ts'

/**
 * Runs in a sandbox with a database's volume and the programs of both versions, while no server runs. `check` looks whether it can be done and
 * leaves nothing. `link` makes a cluster beside the old one, which shares its files, and puts it in the place of that when it is whole: whoever
 * begins again finds by the name `pgdata.upgraded` that it is. As long as no server has run with them, the shared files are those of the old
 * cluster, which pg_upgrade has shut by renaming its control file (its manual, "Reverting to old cluster").
 *
 * Its last line says how it went. Nobody but the user of the database can open the socket that it works through.
 */
export const UPGRADE_SCRIPT = `
set -eu
umask 077
${ALONE}
data=$CPD_VOLUME/pgdata
next=$CPD_VOLUME/pgdata.next
whole=$CPD_VOLUME/pgdata.upgraded
work=$CPD_VOLUME/upgrade
finish() {
  rm -rf "$data"
  mv "$whole" "$data"
  rm -rf "$next" "$work"
  sync -f "$CPD_VOLUME"
  echo 'cpd-upgrade: done'
  exit 0
}
if [ -e "$whole" ]; then finish; fi
if [ "$(cat "$data/PG_VERSION")" = "$CPD_TO" ]; then
  echo 'cpd-upgrade: done'
  exit 0
fi
open_again() {
  if [ -e "$data/global/pg_control.old" ]; then mv "$data/global/pg_control.old" "$data/global/pg_control"; fi
  rm -rf "$next" "$work"
  sync -f "$CPD_VOLUME"
}
open_again
sockets=$(mktemp -d /tmp/upgrade.XXXXXX)
report() {
  cat "$work/said"
  for file in "$next"/pg_upgrade_output.d/*/*.txt; do
    if [ -s "$file" ]; then
      echo "cpd-report: $(basename "$file" .txt)"
      head -c 1500 "$file"
      echo
    fi
  done
  grep -hE 'error: |ERROR: |FATAL: ' "$next"/pg_upgrade_output.d/*/log/*.log 2>/dev/null | tail -n 6 || true
}
refuse() {
  open_again
  rm -rf "$sockets"
  echo 'cpd-upgrade: refused'
  exit 1
}
# A server takes this room again when it is up.
rm -f "$CPD_VOLUME/ballast"
mkdir "$work"
cd "$work"
echo 'local all all trust' > hba
initdb --pgdata="$next" --username="$CPD_ADMIN" --auth=reject --encoding=UTF8 --locale=C \\
  \${CPD_LOCALE_PROVIDER:+--locale-provider="$CPD_LOCALE_PROVIDER" --builtin-locale=C.UTF-8} \\
  --data-checksums --no-sync --no-instructions > said 2>&1 || { cat said; refuse; }
how=--link
if [ "$CPD_STEP" = check ]; then how=--check; fi
settings="-c hba_file='$work/hba' -c shared_buffers=16MB -c max_connections=20 -c lc_messages=C"
pg_upgrade --old-bindir="$CPD_FORMER/bin" --new-bindir="$CPD_ROOT/bin" --old-datadir="$data" --new-datadir="$next" \\
  --username="$CPD_ADMIN" --socketdir="$sockets" --old-port=50432 --new-port=50432 --no-sync \\
  --old-options="$settings" --new-options="$settings -c max_wal_size=64MB -c min_wal_size=32MB" $how > said 2>&1 || { report; refuse; }
rm -rf "$sockets"
if [ "$CPD_STEP" = check ]; then
  open_again
  echo 'cpd-upgrade: done'
  exit 0
fi
rm -rf "$next/pg_upgrade_output.d"
sync -f "$next"
mv "$next" "$whole"
sync -f "$CPD_VOLUME"
finish
`
