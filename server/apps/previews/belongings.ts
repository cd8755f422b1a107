import type { Owner } from '../../runtime/owner.ts'
import type { AppContext } from '../context.ts'
import { deleteService } from '../services/delete.ts'
import { serviceById } from '../services/store.ts'
import { changePreview, previewByService, previewsOf } from './store.ts'

/** With a service its previews go; a preview that somebody deletes comes back with the next push. Part of the transaction of the deletion. */
export function releasePreviews(context: AppContext, { id }: Pick<Owner, 'id'>): void {
  const { db, now } = context
  const shown = previewByService(db, id)
  if (shown !== undefined) {
    const dismissed = { serviceId: null, deployedCommit: null, dismissedCommit: shown.headCommit, isAsked: false }
    changePreview(db, shown, { ...dismissed, updatedAt: now() })
    context.work.poke('previews', shown.parentId)
  }
  for (const preview of previewsOf(db, id)) {
    const service = preview.serviceId === null ? undefined : serviceById(db, preview.serviceId)
    if (service !== undefined && service.deletedAt === null) deleteService(context, service)
  }
}
