import { repositoryKey } from '../../../../shared/repository.ts'
import type { AppContext } from '../../context.ts'
import { recordEvent } from '../../events/store.ts'
import { moveRequests } from '../../previews/store.ts'
import { type StoredService, serviceById, updateService } from '../../services/store.ts'
import { lookAt, putLook } from '../look-store.ts'
import { changeWait, waitOf } from '../wait-store.ts'
import { nextLookAt } from './plan.ts'

/** Renames in a row that are gone after at once: a host that leads in circles is asked more and more seldom. */
const AT_ONCE = 1

/**
 * Has a service go on from where its repository is now, with what is known of its branch. Belongs in a transaction. Returns the service as it is
 * then; undefined where it has been given another repository meanwhile, or is gone.
 */
export function followRename(context: AppContext, { id, labels }: StoredService, url: string): StoredService | undefined {
  const { db, work } = context
  const now = context.now()
  const current = serviceById(db, id)
  if (current === undefined || current.deletedAt !== null || current.labels.repo !== labels.repo) return undefined
  updateService(db, id, { labels: { ...current.labels, repo: url } }, now)
  const before = lookAt(db, { serviceId: id, repository: labels.repo, branch: current.labels.branch })
  if (before !== undefined) {
    const failures = before.failures + 1
    const nextAt = failures > AT_ONCE ? nextLookAt(now, { failures, share: 0 }) : now
    putLook(db, { ...before, repository: url, failures, nextAt })
  }
  moveRequests(db, id, { from: repositoryKey(labels.repo) ?? '', to: repositoryKey(url) ?? '' })
  const wait = waitOf(db, id)
  if (wait?.repository === labels.repo) changeWait(db, wait, { repository: url })
  recordEvent(db, { owner: current, type: 'repository_renamed', details: { from: labels.repo, to: url }, now })
  work.poke('service', id)
  return serviceById(db, id)
}
