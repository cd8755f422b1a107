/**
 * Runs in a sandbox without a network: `$CPD_MATERIAL` holds a socket that leads to the database, and what is made stands in the home folder. The
 * directory is dumped by several connections at a time, and packed when all of it is there.
 */
export const EXPORTED_FILE = 'export.tar.gz'

export const EXPORT_SCRIPT = `
set -eu
umask 077
work=$HOME/export
rm -rf "$work"
mkdir "$work"
cd "$work"
PGPASSWORD=$(cat "$CPD_SECRETS/password")
export PGPASSWORD PGHOST="$CPD_MATERIAL" PGPORT=5432
mkfifo words
awk "$CPD_WORDS" < words &
listener=$!
echo 'cpd-phase: reading'
code=0
pg_dump --no-password --format=directory --file="$CPD_FOLDER" --jobs=2 $CPD_COMPRESS \${CPD_EXCLUDED:-} --lock-wait-timeout=60000 --verbose 2> words || code=$?
wait "$listener"
[ "$code" = 0 ] || exit "$code"
echo 'cpd-phase: packing'
tar --create --use-compress-program='gzip -1' --file="$HOME/${EXPORTED_FILE}" "$CPD_FOLDER"
`
