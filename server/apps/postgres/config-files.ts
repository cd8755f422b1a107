/** The files that a server is started with. They stand outside of its data, where no SQL changes them. */
import type { SecretFile } from '../../engines/port/workload.ts'
import { ADMIN, BACKUP } from './roles.ts'

export interface ConfigFacts {
  id: string
  settings: Readonly<Record<string, string>>
  /** Where connections of this machine come from, as the server sees them. */
  hostAddress: string
  /** How a replica signs in to its primary. */
  backupPassword?: string
}

export const configFiles = (facts: ConfigFacts): SecretFile[] => [
  { name: 'postgresql.conf', content: renderSettings({ cluster_name: facts.id, ...facts.settings }) },
  { name: 'pg_hba.conf', content: renderAccess(facts.hostAddress) },
  ...(facts.backupPassword === undefined ? [] : [{ name: 'primary-password', content: `*:*:*:${BACKUP}:${facts.backupPassword}\n` }]),
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
    `host all ${ADMIN},${BACKUP} all reject`,
    'host replication all all reject',
    'host all all all scram-sha-256',
    '',
  ].join('\n')
