/** What a cluster is made with, whoever makes it. */
import type { SecretFile } from '../../engines/port/workload.ts'
import { ADMIN } from './roles.ts'
import { scramVerifier } from './sql.ts'

/** A server takes what it keeps of a password in place of the password. */
export const adminPasswordFile = (password: string): SecretFile => ({ name: 'admin-password', content: `${scramVerifier(password)}\n` })

export const clusterEnv = (version: number): Record<string, string> => ({
  LANG: 'C',
  CPD_ADMIN: ADMIN,
  // The order of texts is the same on every machine with it, so that no index breaks where a backup is restored elsewhere.
  CPD_LOCALE_PROVIDER: version >= 17 ? 'builtin' : '',
  // Copied as files, the content of a new database is not in the log.
  CPD_STRATEGY: version >= 15 ? 'STRATEGY file_copy' : '',
})

/** The database that a new cluster has ready. It gets its name and its owner at the first start; tenants can give no such name. */
export const SPARE_DATABASE = 'cpd_spare'
