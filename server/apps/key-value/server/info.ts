import { mostCommands } from '../../../../shared/key-value.ts'

/** What is read of the answer to `INFO`. Times are milliseconds since 1970, sizes bytes. */
export interface ServerInfo {
  isLoading: boolean
  isJournaling: boolean
  isWriting: boolean
  isJournalGood: boolean
  journalBytes: number
  journalBaseBytes: number
  isSnapshotGood: boolean
  snapshots: number
  lastSnapshotAt: number
  version: string
  usedMemory: number
  maxMemory: number
  clients: number
  hits: number
  misses: number
  evictions: number
  expirations: number
  commands: number
  keys: number
}

/** Reads the answer to `INFO` of Valkey or Redis; figures that it lacks are 0. */
export function readInfo(text: string): ServerInfo {
  const told = new Map(text.split(/\r?\n/).map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]))
  const figure = (name: string): number => Number(told.get(name) ?? 0) || 0
  const isOn = (name: string): boolean => figure(name) > 0
  return {
    isLoading: isOn('loading'),
    isJournaling: isOn('aof_enabled'),
    isWriting: ['aof_rewrite_in_progress', 'aof_rewrite_scheduled', 'rdb_bgsave_in_progress'].some(isOn),
    isJournalGood: told.get('aof_last_bgrewrite_status') === 'ok' && told.get('aof_last_write_status') === 'ok',
    journalBytes: figure('aof_current_size'),
    journalBaseBytes: figure('aof_base_size'),
    isSnapshotGood: told.get('rdb_last_bgsave_status') === 'ok',
    snapshots: figure('rdb_saves'),
    lastSnapshotAt: figure('rdb_last_save_time') * 1000,
    version: told.get('valkey_version') ?? told.get('redis_version') ?? '',
    usedMemory: figure('used_memory'),
    maxMemory: figure('maxmemory'),
    clients: figure('connected_clients'),
    hits: figure('keyspace_hits'),
    misses: figure('keyspace_misses'),
    evictions: figure('evicted_keys'),
    expirations: figure('expired_keys'),
    commands: figure('total_commands_processed'),
    keys: keysIn(told),
  }
}

export interface CommandFigures {
  command: string
  calls: number
  totalMs: number
  /** Refused before they ran, or ended with an error. */
  failed: number
}

const commandPattern = /^cmdstat_([^:\r\n]+):calls=(\d+),usec=(\d+)(.*)$/gm

/** Lines such as `cmdstat_get:calls=4,usec=9,usec_per_call=2.25,rejected_calls=0,failed_calls=1`, what took most time first. */
export const readCommands = (text: string): CommandFigures[] =>
  [...text.matchAll(commandPattern)]
    .map(([, name = '', calls, usec, rest = '']) => ({
      command: name.replaceAll('|', ' ').toUpperCase(),
      calls: Number(calls),
      totalMs: Number(usec) / 1000,
      failed: [...rest.matchAll(/(?:rejected|failed)_calls=(\d+)/g)].reduce((sum, [, count]) => sum + Number(count), 0),
    }))
    .toSorted((one, other) => other.totalMs - one.totalMs)
    .slice(0, mostCommands)

/** Lines such as `db0:keys=4,expires=0,avg_ttl=0`. */
const keysIn = (told: ReadonlyMap<string, string>): number =>
  [...told].filter(([name]) => /^db\d+$/.test(name)).reduce((sum, [, value]) => sum + Number(/keys=(\d+)/.exec(value)?.[1] ?? 0), 0)
