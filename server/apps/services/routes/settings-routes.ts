import type { ResolvedEnvVar } from '../../../../shared/env.ts'
import { AppError } from '../../../../shared/error.ts'
import type { Operations } from '../../../../shared/operations/all.ts'
import { DEFAULT_PAGE_ITEMS, idAfter, pageOf } from '../../../http/answers/page.ts'
import type { Actor, Handlers } from '../../../http/handlers/call.ts'
import { seesValues } from '../../../identity/scopes/protection.ts'
import type { AppContext } from '../../context.ts'
import { binderFor } from '../../variables/bind.ts'
import { refuseCircles } from '../../variables/circles.ts'
import { describePlatformEnv } from '../../variables/platform-env.ts'
import { refuseSameNames, refuseTooMany, resolveEnvEntry, resolveEnvInput } from '../../variables/rules.ts'
import { shownEnv, shownFile } from '../../variables/shown.ts'
import {
  countOtherEnv,
  deleteEnv,
  type EnvEntry,
  findEnv,
  listEnv,
  listSecretFiles,
  replaceEnv,
  replaceSecretFiles,
  type SecretFileEntry,
  setEnv,
} from '../env-store.ts'
import { requireService } from '../require.ts'
import type { StoredService } from '../store.ts'
import { resolvedEnv } from './present-env.ts'

type SettingIds = Extract<
  keyof Operations,
  | 'listPlatformEnv'
  | 'listEnvVars'
  | 'replaceEnvVars'
  | 'getEnvVar'
  | 'setEnvVar'
  | 'deleteEnvVar'
  | 'listSecretFiles'
  | 'replaceSecretFiles'
>

export const settingRoutes: Handlers<SettingIds, AppContext> = {
  listPlatformEnv({ actor, params }, context) {
    const service = requireService(context, actor, params.serviceId)
    return describePlatformEnv(context, service).map((envVar) => ({ envVar }))
  },
  listEnvVars({ actor, params, query }, context) {
    const service = requireService(context, actor, params.serviceId)
    const isShown = seesValues(context.db, actor, service.environmentId)
    const all = query.resolved === true ? resolvedEnv(context, actor, service) : shownAll(context.db, isShown, listEnv(context, service.id))
    return envPage(pageAfter(all, ({ key }) => key, query))
  },
  replaceEnvVars({ actor, params, body }, context) {
    const service = requireService(context, actor, params.serviceId)
    replaceEnv(context, service.id, resolveEnvInput(body, ofService(context, actor, service)))
    refuseCircles(context, service)
    return envPage(shownAll(context.db, seesValues(context.db, actor, service.environmentId), listEnv(context, service.id)))
  },
  getEnvVar({ actor, params }, context) {
    const { id, environmentId } = requireService(context, actor, params.serviceId)
    const entry = findEnv(context, id, params.key)
    if (entry === undefined) throw new AppError('not_found', `The service has no variable ${params.key}.`)
    return shownEnv(context.db, seesValues(context.db, actor, environmentId), entry)
  },
  setEnvVar({ actor, params, body }, context) {
    const service = requireService(context, actor, params.serviceId)
    const entry = resolveEnvEntry(params.key, body, ofService(context, actor, service))
    refuseTooMany(countOtherEnv(context, service.id, entry.key) + 1)
    setEnv(context, service.id, entry)
    if (entry.interpolate === true) refuseCircles(context, service)
    return shownEnv(context.db, seesValues(context.db, actor, service.environmentId), entry)
  },
  deleteEnvVar({ actor, params }, context) {
    const { id } = requireService(context, actor, params.serviceId)
    if (!deleteEnv(context, id, params.key)) throw new AppError('not_found', `The service has no variable ${params.key}.`)
  },
  listSecretFiles({ actor, params, query }, context) {
    const { id, environmentId } = requireService(context, actor, params.serviceId)
    return presentFiles(
      seesValues(context.db, actor, environmentId),
      pageAfter(listSecretFiles(context, id), ({ name }) => name, query),
    )
  },
  replaceSecretFiles({ actor, params, body }, context) {
    const { id, environmentId } = requireService(context, actor, params.serviceId)
    refuseSameNames(body)
    replaceSecretFiles(context, id, body)
    return presentFiles(seesValues(context.db, actor, environmentId), listSecretFiles(context, id))
  },
}

const ofService = (context: AppContext, actor: Actor, { id, type, environmentId }: StoredService) => ({
  type,
  bind: binderFor(context, actor, { environmentId, isService: true, held: listEnv(context, id) }),
})

const shownAll = (db: AppContext['db'], isShown: boolean, entries: readonly EnvEntry[]): ResolvedEnvVar[] =>
  entries.map((entry) => shownEnv(db, isShown, entry))

const envPage = (items: readonly ResolvedEnvVar[]) => pageOf('envVar', items, ({ key }) => [key])

const presentFiles = (isShown: boolean, files: readonly SecretFileEntry[]) =>
  pageOf(
    'secretFile',
    files.map((file) => shownFile(isShown, file)),
    ({ name }) => [name],
  )

function pageAfter<T>(items: readonly T[], keyOf: (item: T) => string, query: { cursor?: string; limit?: number }): T[] {
  const after = idAfter(query.cursor)
  const start = after === undefined ? 0 : items.findIndex((item) => keyOf(item) > after)
  return start === -1 ? [] : items.slice(start, start + (query.limit ?? DEFAULT_PAGE_ITEMS))
}
