import { AppError } from '../../../shared/error.ts'
import { repositoryKey } from '../../../shared/repository.ts'
import { traitsOf } from '../../../shared/service-type.ts'
import { withinQuotas } from '../../identity/quotas/enforce.ts'
import { inOneChange } from '../../platform/db/change.ts'
import { newId } from '../../platform/id.ts'
import type { AppContext } from '../context.ts'
import { createDeploy } from '../deploys/operations.ts'
import { recordEvent } from '../events/store.ts'
import { hostOf } from '../services/addresses.ts'
import { deleteService } from '../services/delete.ts'
import { insertService } from '../services/insert.ts'
import { isNameTaken, type StoredService, serviceById, updateService } from '../services/store.ts'
import { inheritedBy, inheritSecrets } from './inherit.ts'
import { expiryOf, type PreviewFacts, type PreviewStep, planPreview, refusalBeyond } from './plan.ts'
import { changePreview, countPreviews, forgetPreview, isBeingRemoved, previewsOf, type StoredPreview } from './store.ts'

const LEAVING_MS = 1000

export const factsOf = ({ now }: Pick<AppContext, 'now'>, parent: StoredService, preview: StoredPreview): PreviewFacts => ({
  preview,
  rule: repositoryKey(parent.labels.repo) === preview.repository ? parent.labels.previews : null,
  now: now(),
})

/** Does what is to be done for the requests of a service, each in one transaction. Returns when there will be more (ms since 1970). */
export function reconcilePreviews(context: AppContext, parentId: string): number | undefined {
  const parent = serviceById(context.db, parentId)
  if (parent === undefined || parent.deletedAt !== null) return undefined
  const dues = previewsOf(context.db, parentId).map((preview) => {
    const step = planPreview(factsOf(context, parent, preview))
    if (step.do === 'deploy' && isLeaving(context, { parent, preview })) return context.now() + LEAVING_MS
    if (step.do !== 'nothing') inOneChange(context.db, () => takeStep(context, { parent, preview }, step))
    return preview.serviceId === null ? undefined : expiryOf(preview, parent.labels.previews)
  })
  const due = dues.filter((at) => at !== undefined)
  return due.length === 0 ? undefined : Math.min(...due)
}

/** The service before has the host name until the last of its processes is gone. */
const isLeaving = ({ db }: Pick<AppContext, 'db'>, { parent, preview }: Of): boolean =>
  preview.serviceId === null && isBeingRemoved(db, { parentId: parent.id, name: previewName(parent.name, preview.number) })

interface Of {
  parent: StoredService
  preview: StoredPreview
}

function takeStep(context: AppContext, of: Of, step: PreviewStep): void {
  if (step.do === 'deploy') deployOrSayWhy(context, of, step.commit)
  if (step.do === 'remove') removePreview(context, of, step.because)
  if (step.do === 'forget') forgetPreview(context.db, of.preview)
}

/** What has no room now is tried again with the next poke, at least once a minute. */
function deployOrSayWhy(context: AppContext, of: Of, commit: string): void {
  try {
    inOneChange(context.db, () => deployPreview(context, of, commit))
  } catch (error) {
    if (!(error instanceof AppError) || error.code === 'internal') throw error
    if (of.preview.problem !== error.message) changePreview(context.db, of.preview, { problem: error.message, updatedAt: context.now() })
  }
}

function deployPreview(context: AppContext, { parent, preview }: Of, commit: string): void {
  const { db, now } = context
  const inherited = inheritedBy(parent, preview, commit)
  const id = preview.serviceId ?? makePreview(context, { parent, preview }, inherited)
  updateService(db, id, inherited, now())
  inheritSecrets(context, { parent, id, isFork: preview.isFork })
  const service = serviceById(db, id)
  if (service === undefined) throw new AppError('internal', `The preview ${id} is gone.`)
  createDeploy(context, service, { trigger: 'new_commit', commitId: commit, commitMessage: preview.title })
  changePreview(db, preview, { serviceId: id, deployedCommit: commit, problem: null, updatedAt: now() })
}

function makePreview(context: AppContext, { parent, preview }: Of, inherited: ReturnType<typeof inheritedBy>): string {
  const { db, now, publicUrl } = context
  const refusal = refusalBeyond(countPreviews(db, { workspaceId: parent.workspaceId, parentId: parent.id }))
  if (refusal !== undefined) throw new AppError('conflict', refusal)
  const name = previewName(parent.name, preview.number)
  if (isNameTaken(db, parent.workspaceId, name))
    throw new AppError('conflict', `There is a service named ${name} already. Rename or delete that one.`)
  const id = newId(traitsOf(parent.type).idKind, now())
  const row = { ...{ id, name, workspaceId: parent.workspaceId, type: parent.type, previewOf: parent.id, createdAt: now() }, ...inherited }
  withinQuotas(context, parent.workspaceId, () => insertService(db, row, (slug) => hostOf(context, slug) === new URL(publicUrl).hostname))
  const details = { request: preview.number, previewId: id, name }
  recordEvent(db, { owner: row, type: 'service_created', details: { type: row.type }, now: now() })
  recordEvent(db, { owner: parent, type: 'preview_created', details, now: now() })
  context.audit.system({
    event: 'preview.created',
    workspaceId: parent.workspaceId,
    target: id,
    metadata: { ...details, parentId: parent.id },
  })
  context.work.poke('certificates')
  return id
}

const NAME_CHARS = 48

function previewName(parent: string, number: number): string {
  const end = `-pr-${number}`
  return `${parent.slice(0, NAME_CHARS - end.length).trimEnd()}${end}`
}

function removePreview(context: AppContext, { parent, preview }: Of, because: string): void {
  const { db, now } = context
  const service = preview.serviceId === null ? undefined : serviceById(db, preview.serviceId)
  changePreview(db, preview, { serviceId: null, deployedCommit: null, problem: null, updatedAt: now() })
  if (service === undefined || service.deletedAt !== null) return
  const details = { request: preview.number, previewId: service.id, name: service.name, reason: because }
  recordEvent(db, { owner: parent, type: 'preview_deleted', details, now: now() })
  context.audit.system({ event: 'preview.deleted', workspaceId: parent.workspaceId, target: service.id, metadata: details })
  deleteService(context, service)
}
