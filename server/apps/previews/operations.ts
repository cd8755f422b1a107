import { AppError } from '../../../shared/error.ts'
import type { previewOperations } from '../../../shared/operations/previews.ts'
import type { Preview } from '../../../shared/preview.ts'
import type { Actor, Call } from '../../http/handlers/call.ts'
import type { AppContext } from '../context.ts'
import { recordEvent } from '../events/store.ts'
import { deleteService } from '../services/delete.ts'
import { requireService } from '../services/require.ts'
import { type StoredService, serviceById } from '../services/store.ts'
import { hearOf, note } from './look.ts'
import { presentPreview } from './present.ts'
import { hasPreviews } from './requests.ts'
import { changePreview, findPreview, type StoredPreview } from './store.ts'

/** Has a request shown where previews are made by hand. The host is asked first, as nothing may be known of the request yet. */
export async function askFor(context: AppContext, call: Call<(typeof previewOperations)['createPreview']>): Promise<Preview> {
  const { actor, params, body, signal, change } = call
  const parent = requireService(context, actor, params.serviceId)
  if (!hasPreviews(parent)) throw noPreviews(parent)
  const heard = await hearOf(context, parent, body.number, signal)
  return change(() => {
    note(context, parent, heard)
    const preview = requirePreview(context, parent, body.number)
    if (!preview.isOpen) throw new AppError('conflict', `Request ${body.number} is closed. Open it again first.`)
    changePreview(context.db, preview, { isAsked: true, dismissedCommit: null, pushedAt: context.now(), updatedAt: context.now() })
    return changed(context, parent, body.number)
  })
}

interface Approval {
  number: number
  commitId: string
  by: Pick<Actor, 'type' | 'id'>
}

/** Has one commit of a fork built and run. @throws AppError conflict where the request has another by now. */
export function approve(context: AppContext, parent: StoredService, { number, commitId, by }: Approval): Preview {
  const { db, now } = context
  const preview = requirePreview(context, parent, number)
  if (!preview.isOpen) throw new AppError('conflict', `Request ${number} is closed.`)
  if (!preview.isFork) throw new AppError('conflict', `Request ${number} comes from the repository itself, and needs no approval.`)
  if (preview.headCommit !== commitId)
    throw new AppError(
      'conflict',
      `The newest commit of request ${number} is ${preview.headCommit}. Look at what it changes, and approve that one.`,
    )
  changePreview(db, preview, { approvedCommit: commitId, isAsked: true, dismissedCommit: null, pushedAt: now(), updatedAt: now() })
  const details = { request: number, commitId, repository: preview.headRepository, actor: { type: by.type, id: by.id } }
  recordEvent(db, { owner: parent, type: 'preview_approved', details, now: now() })
  return changed(context, parent, number)
}

export function dismiss(context: AppContext, parent: StoredService, number: number): void {
  const preview = requirePreview(context, parent, number)
  const service = preview.serviceId === null ? undefined : serviceById(context.db, preview.serviceId)
  if (service !== undefined && service.deletedAt === null) deleteService(context, service)
  const dismissed = { dismissedCommit: preview.headCommit, approvedCommit: null, isAsked: false }
  changePreview(context.db, preview, { ...dismissed, serviceId: null, deployedCommit: null, updatedAt: context.now() })
  context.work.poke('previews', parent.id)
}

function changed(context: AppContext, parent: StoredService, number: number): Preview {
  context.work.poke('previews', parent.id)
  return presentPreview(context, parent, requirePreview(context, parent, number))
}

function requirePreview({ db }: Pick<AppContext, 'db'>, parent: StoredService, number: number): StoredPreview {
  const preview = findPreview(db, { parentId: parent.id, number })
  if (preview !== undefined) return preview
  throw new AppError(
    'not_found',
    `No request ${number} to the branch of this service is known. GET /v1/services/{id}/previews lists those there are.`,
  )
}

function noPreviews({ labels: { repo }, previewOf }: StoredService): AppError {
  if (previewOf !== null) return new AppError('conflict', 'This is a preview itself. Name the service that it is one of.')
  const wanted = repo === '' ? 'The service has no repository, so there are no requests' : 'Previews of this service are off'
  return new AppError('conflict', `${wanted}. Set serviceDetails.previews.generation to manual or automatic first.`)
}
