import type { AppContext } from '../../context.ts'
import type { RepositoryDeps } from '../repository/repository.ts'
import type { BackupSet } from '../rows/set-store.ts'
import type { Due } from '../rules/schedule.ts'
import type { Receivers } from './receivers.ts'
import type { Relays } from './relay.ts'
import type { Taking, Verifying } from './take-next.ts'

export interface Keeping {
  context: AppContext
  deps: RepositoryDeps
  receivers: Receivers
  relays: Relays
  drillsTriedAt: Map<string, number>
  taking: Set<string>
}

/** What differs between kinds of datastores in keeping their backups. */
export interface KeptKind {
  dueOf(set: BackupSet): Due
  take?: Taking['take']
  verify?: Verifying['verify']
}
