import { ALONE } from '../../datastores/alone.ts'

/**
 * Runs in a sandbox with a volume and a folder of material that it can only read, in which there is a snapshot. It has a server read all of it
 * and puts it in place where the store's own server begins with it. What was cut off is done anew, and what is in place stays.
 */
export const RESTORE_SCRIPT = `
set -eu
umask 077
${ALONE}
work=$CPD_VOLUME/restore
if [ -e "$CPD_VOLUME/dump.rdb" ] && [ -z "\${CPD_DRILL:-}" ]; then exit 0; fi
rm -rf "$work"
mkdir "$work"
cp "$CPD_MATERIAL/dump.rdb" "$work/dump.rdb"
socket=$(mktemp -d /tmp/restore.XXXXXX)
trap 'rm -rf "$socket"' EXIT
server=''
trap 'kill -KILL "$server" 2>/dev/null || true; exit 143' TERM INT
"$SERVER" --port 0 --unixsocket "$socket/s" --dir "$work" --dbfilename dump.rdb --save '' --appendonly no --daemonize no \\
  --logfile '' --set-proc-title no > "$work/log" 2>&1 &
server=$!
until grep -q 'DB loaded from disk' "$work/log"; do
  kill -0 "$server" 2>/dev/null || { cat "$work/log"; exit 1; }
  sleep 0.05
done
kill -KILL "$server"
wait "$server" || true
cat "$work/log"
if [ -z "\${CPD_DRILL:-}" ]; then
  sync -f "$work/dump.rdb"
  mv "$work/dump.rdb" "$CPD_VOLUME/dump.rdb"
  sync -f "$CPD_VOLUME/dump.rdb"
fi
rm -rf "$work"
`

export interface ReadKeys {
  keys: number
  expired: number
}

/** What a server says of the keys that it has read; undefined where it says nothing. See rdbLoadRioWithLoadingCtx in rdb.c. */
export function keysRead(output: string): ReadKeys | undefined {
  const [, keys, expired] = /keys loaded: (\d+), keys expired: (\d+)/.exec(output) ?? []
  return keys === undefined || expired === undefined ? undefined : { keys: Number(keys), expired: Number(expired) }
}
