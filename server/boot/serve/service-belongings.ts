import type { Belongings } from '../../apps/belongings.ts'
import type { AppContext } from '../../apps/context.ts'
import { releaseDeploys, removeDeploys } from '../../apps/deploys/belongings.ts'
import { releaseDisk } from '../../apps/disks/operations.ts'
import { releasePreviews } from '../../apps/previews/belongings.ts'
import { unlimitSpace } from '../../apps/services/space-limit.ts'
import { serviceById } from '../../apps/services/store.ts'
import { deleteDomainsOf } from '../../edge/domains/store.ts'
import { dropFromScopes } from '../../identity/scopes/store.ts'
import { removeServiceFolders } from '../../platform/service-folders.ts'

/** Each slice that keeps something for services stands here. Requests have stopped before anything is taken away, and builds before the folders go. */
export const serviceBelongings: readonly Belongings<AppContext>[] = [
  { release: ({ db }, { id }) => deleteDomainsOf(db, id) },
  { release: ({ db }, owner) => dropFromScopes(db, owner) },
  { release: releasePreviews },
  { release: releaseDisk },
  { release: ({ work }) => work.poke('certificates'), remove: ({ routes }) => routes.publish() },
  { release: releaseDeploys, remove: removeDeploys },
  { remove: ({ engine }, { id }) => engine.removeOwner(id) },
  { remove: removeOutputs },
  { remove: ({ logStore }, { id }) => logStore.removeService(id) },
  { remove: ({ metrics }, { id }) => metrics.removeService(id) },
  { remove: ({ paths }, { id }) => removeServiceFolders(paths, id) },
  { remove: liftSpaceLimit },
]

async function removeOutputs({ outputLogs }: Pick<AppContext, 'outputLogs'>, { id: ownerId }: { id: string }): Promise<void> {
  for (const name of await outputLogs.list(ownerId)) await outputLogs.discard({ ownerId, name })
}

async function liftSpaceLimit(context: AppContext, { id }: { id: string }): Promise<void> {
  const service = serviceById(context.db, id)
  if (service !== undefined) await unlimitSpace(context, service)
}
