import type { PersistenceMode } from '../../../../shared/key-value.ts'

export const CONFIG_FILE = 'valkey.conf'

/** Files that would be read at the next start, though they are older than what is to be read. */
const stale: Record<PersistenceMode, string> = {
  journal_snapshot: '',
  snapshot: 'rm -rf appendonlydir && ',
  off: 'rm -rf appendonlydir dump.rdb && ',
}

/** The command of a server inside its sandbox, where the variables are told. Half-written files there are of one that was killed. */
export const startCommand = (laid: PersistenceMode): string =>
  `cd "$DATA" && exec 9< . && flock --timeout 60 9 && rm -f temp-*.rdb temp-*.aof && ${stale[laid]}exec "$SERVER" "$CONFIG" --port "$PORT" --dir "$DATA"`
