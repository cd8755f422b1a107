import { AppError } from '../../../shared/error.ts'
import type { previewOperations } from '../../../shared/operations/previews.ts'
import { DEFAULT_PAGE_ITEMS, decodeCursor, idAfter, pageOf } from '../../http/answers/page.ts'
import type { Handlers } from '../../http/handlers/call.ts'
import { seesValues } from '../../identity/scopes/protection.ts'
import type { AppContext } from '../context.ts'
import { requireService } from '../services/require.ts'
import { refusePlatformKey } from '../variables/rules.ts'
import { approve, askFor, dismiss } from './operations.ts'
import { presentPreview } from './present.ts'
import { previewsOf } from './store.ts'
import { deletePreviewValue, listPreviewValues, setPreviewValue } from './value-store.ts'

export const previewRoutes: Handlers<keyof typeof previewOperations, AppContext> = {
  listPreviews({ actor, params, query }, context) {
    const parent = requireService(context, actor, params.serviceId)
    const [before] = decodeCursor(query.cursor, ['number']) ?? []
    const { limit = DEFAULT_PAGE_ITEMS } = query
    const found = previewsOf(context.db, parent.id, { limit, ...(before !== undefined && { before: Number(before) }) })
    const presented = found.map((preview) => presentPreview(context, parent, preview))
    return pageOf('preview', presented, ({ number }) => [number])
  },
  createPreview: (call, context) => askFor(context, call),
  approvePreview({ actor, params, body }, context) {
    const parent = requireService(context, actor, params.serviceId)
    return approve(context, parent, { number: Number(params.request), commitId: body.commitId, by: actor })
  },
  deletePreview({ actor, params }, context) {
    dismiss(context, requireService(context, actor, params.serviceId), Number(params.request))
  },
  listPreviewValues({ actor, params, query }, context) {
    const { id, environmentId } = requireService(context, actor, params.serviceId)
    const isShown = seesValues(context.db, actor, environmentId)
    const after = idAfter(query.cursor) ?? ''
    const found = listPreviewValues(context, id).filter(({ key }) => key > after)
    const page = found.slice(0, query.limit ?? DEFAULT_PAGE_ITEMS).map((one) => shown(isShown, one))
    return pageOf('previewValue', page, ({ key }) => [key])
  },
  setPreviewValue({ actor, params, body }, context) {
    const { id, type, environmentId } = requireService(context, actor, params.serviceId)
    refusePlatformKey(params.key, type)
    setPreviewValue(context, id, { key: params.key, value: body.value })
    return shown(seesValues(context.db, actor, environmentId), { key: params.key, value: body.value })
  },
  deletePreviewValue({ actor, params }, context) {
    const { id } = requireService(context, actor, params.serviceId)
    if (!deletePreviewValue(context, id, params.key))
      throw new AppError('not_found', `Nothing is said of what ${params.key} is in previews.`)
  },
}

const shown = (isShown: boolean, { key, value }: { key: string; value: string }) =>
  isShown ? { key, value } : { key, value: '', hidden: true as const }
