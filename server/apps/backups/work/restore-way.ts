import type { InstanceSpec } from '../../../engines/port/workload.ts'
import type { AppContext } from '../../context.ts'
import type { Material } from '../repository/lay.ts'
import type { RepositoryDeps } from '../repository/repository.ts'
import type { StoredBackup } from '../rows/backup-store.ts'
import type { RestoreProgram } from './owner.ts'

export interface RestoredBackup {
  datastoreId: string
  chain: readonly StoredBackup[]
  /** A moment in milliseconds since 1970, `latest`, or `immediate` for what the backup holds. */
  target: string
}

export interface RestoreRequest {
  version: string
  target: string
  limits: InstanceSpec['limits']
  /** The datastore that is made; absent where a backup is only tried out, which leaves nothing. */
  recoveredId?: string
}

/** How datastores of one kind are made of their backups. */
export interface RestoreWay {
  /** Lays decrypted files in a folder of its own for whoever restores. @throws BackupDamaged naming what is wrong; not_found for what is gone. */
  lay(deps: RepositoryDeps, material: Material, backup: RestoredBackup): Promise<void>
  program(context: AppContext, request: RestoreRequest): Promise<RestoreProgram>
  /** A processor of its own at least: a recovery is waited for. */
  limitsOf(plan: string): InstanceSpec['limits']
  readIn(output: string): Record<string, unknown>
}
