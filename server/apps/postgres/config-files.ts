/** The files that a server is started with. They stand outside of its data, where no SQL changes them. */
import type { SecretFile } from '../../engines/port/workload.ts'
import { type PoolFacts, poolFiles } from './pool-files.ts'
import { ADMIN, BACKUP, POOL } from './roles.ts'

export interface ConfigFacts {
  id: string
  settings: Readonly<Record<string, string>>
  /** Where connections of this machine come from, as the server sees them. */
  hostAddress: string
  backupPassword?: string
  pool?: PoolFacts
}

export const configFiles = (facts: ConfigFacts): SecretFile[] => [
  { name: 'postgresql.conf', content: renderSettings({ cluster_name: facts.id, ...facts.settings }) },
  { name: 'pg_hba.conf', content: renderAccess(facts.hostAddress) },
  ...(facts.backupPassword === undefined ? [] : [{ name: 'primary-password', content: `*:*:*:${BACKUP}:${facts.backupPassword}\n` }]),
  ...(facts.pool === undefined ? [] : poolFiles(facts.pool)),
]

export const renderSettings = (settings: Readonly<Record<string, string>>): string =>
  Object.entries(settings)
    .map(([name, value]) => `${name} = '${value.replaceAll("'", "''")}'\n`)
    .join('')

/** The first line that fits decides (pg_hba.conf). Roles of the platform come from this machine and nowhere else, and nobody else replicates. */
const renderAccess = (hostAddress: string): string =>
  [
    `host all ${ADMIN} ${hostAddress}/32 scram-sha-256`,
    `host replication,all ${BACKUP} ${hostAddress}/32 scram-sha-256`,
    `host postgres ${POOL} 127.0.0.1/32 scram-sha-256`,
    `host all ${ADMIN},${BACKUP},${POOL} all reject`,
    'host replication all all reject',
    'host all all all scram-sha-256',
    '',
  ].join('\n')
