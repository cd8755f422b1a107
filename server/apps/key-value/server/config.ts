import { type KeyValuePlan, keyValuePlans, type MaxmemoryPolicy, type PersistenceMode } from '../../../../shared/key-value.ts'
import { type Passwords, userLines } from './acl.ts'

const MIB = 1024 * 1024

/** The rest is for what keys do not count: buffers of clients, fragments (12 % were measured), pages that a copy to disk holds twice. */
const SHARE_OF_KEYS = 0.75
const SHARE_OF_BUFFERS = '20%'
const SHARE_OF_BACKUP = 0.1
const MAX_VALUE_BYTES = 512 * MIB

/** For the platform's own connections, beyond those of the plan. */
const OWN_CONNECTIONS = 16

/** A journal doubles before it is written anew, beside which the snapshot and its successor stand. */
const DISK_PER_KEY_BYTE = 5

/** Seconds and changes after which a snapshot is written: the program's own defaults. */
const SNAPSHOTS = '3600 1 300 100 60 10000'

export const maxmemoryOf = (plan: KeyValuePlan): number => Math.floor(keyValuePlans[plan].memoryMb * MIB * SHARE_OF_KEYS)

export const diskOf = (plan: KeyValuePlan): number => Math.max(1, Math.ceil((maxmemoryOf(plan) * DISK_PER_KEY_BYTE) / 1024 ** 3))

export interface ServerSettings {
  plan: KeyValuePlan
  maxmemoryPolicy: MaxmemoryPolicy
  persistenceMode: PersistenceMode
}

/** What is in force without a restart, as `CONFIG SET` takes it. Journals are begun and ended with care: see persistence.ts. */
export const liveSettings = ({ plan, maxmemoryPolicy, persistenceMode }: ServerSettings): Record<string, string> => ({
  maxmemory: String(maxmemoryOf(plan)),
  'maxmemory-policy': maxmemoryPolicy.replace('_', '-'),
  maxclients: String(keyValuePlans[plan].connections + OWN_CONNECTIONS),
  save: persistenceMode === 'off' ? '' : SNAPSHOTS,
})

/** `laid` is how the files on the volume are to be read, which becomes the mode of the settings once the server runs. */
interface Start extends ServerSettings {
  laid: PersistenceMode
  user: string
  passwords: Passwords
  /** Whether the address that it listens at is its own, and no other tenant's as well. */
  hasOwnNetwork: boolean
}

/** The whole configuration file. It holds nothing that versions from 7.2 on, or Redis, would not know. */
export function configFile({ user, passwords, laid, hasOwnNetwork, ...settings }: Start): string {
  const { plan } = settings
  const memory = keyValuePlans[plan].memoryMb * MIB
  const backup = Math.floor(memory * SHARE_OF_BACKUP)
  const lines = {
    bind: hasOwnNetwork ? '* -::*' : '127.0.0.1',
    'protected-mode': 'yes',
    'tcp-keepalive': '60',
    'set-proc-title': 'no',
    'maxmemory-clients': SHARE_OF_BUFFERS,
    // A single SETRANGE or SETBIT makes a value of any length in one step, which maxmemory does not foresee.
    'proto-max-bulk-len': String(Math.min(MAX_VALUE_BYTES, Math.floor(memory * (1 - SHARE_OF_KEYS)))),
    'client-output-buffer-limit': `replica ${backup} ${backup} 0`,
    'repl-diskless-sync': 'yes',
    'repl-diskless-sync-delay': '0',
    'repl-backlog-size': '16kb',
    'repl-backlog-ttl': '1',
    'latency-monitor-threshold': '100',
    appendonly: laid === 'journal_snapshot' ? 'yes' : 'no',
    appendfsync: 'everysec',
    'auto-aof-rewrite-min-size': '16mb',
    'shutdown-on-sigterm': laid === 'snapshot' ? 'save' : 'nosave',
    'oom-score-adj': 'relative',
    'oom-score-adj-values': '0 200 600',
    ...liveSettings(settings),
  }
  return [
    ...Object.entries(lines).map(([name, value]) => `${name} ${value === '' ? '""' : value}`),
    ...userLines(user, passwords),
    '',
  ].join('\n')
}
