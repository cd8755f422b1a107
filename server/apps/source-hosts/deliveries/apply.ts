import type { AppContext } from '../../context.ts'
import { takeRequest } from '../../previews/requests.ts'
import { retryLooks } from '../../repositories/look-store.ts'
import { takePush } from '../../repositories/push.ts'
import { wakeWaits } from '../checks/wake.ts'
import { changeInstallation, deleteInstallation, type StoredInstallation } from '../store/installations.ts'
import type { HostEvent } from './event.ts'

const SUSPENDED = 'Its owner has suspended the app at GitHub. Nothing is deployed from there until it is resumed.'

/**
 * Does what an event of an installation leads to, within the transaction of its delivery. Returns whether anything was changed. Only apps
 * are told of their installations: the secret of a repository's webhook is seen by whoever administers that repository.
 */
export function applyEvent(context: AppContext, installation: StoredInstallation, event: HostEvent): boolean {
  const { db, now } = context
  if (event.kind === 'request') return takeRequest(context, { ...event, workspaceId: installation.workspaceId })
  if (event.kind === 'push') return takePush(context, { ...event.push, workspaceId: installation.workspaceId, haveChecksPassed: false })
  if (event.kind === 'checks') {
    wakeWaits(context, { ...event, workspaceId: installation.workspaceId })
    return false
  }
  if (event.kind !== 'installation' || installation.appId === '') return false
  switch (event.action) {
    case 'deleted':
      return deleteInstallation(db, installation.id)
    case 'suspended':
      changeInstallation(db, installation.id, { problem: SUSPENDED, updatedAt: now() })
      return true
    case 'unsuspended':
      changeInstallation(db, installation.id, { problem: null, updatedAt: now() })
      retryLooks(db, installation, now())
      return true
  }
}
