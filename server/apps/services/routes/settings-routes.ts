import type { EnvVar, SecretFile } from '../../../../shared/env.ts'
import { AppError } from '../../../../shared/error.ts'
import type { Operations } from '../../../../shared/operations/all.ts'
import { DEFAULT_PAGE_ITEMS, idAfter, pageOf } from '../../../http/answers/page.ts'
import type { Actor, Handlers } from '../../../http/handlers/call.ts'
import type { AppContext } from '../../context.ts'
import { describePlatformEnv } from '../../launch/platform-env.ts'
import {
  deleteEnv,
  type EnvEntry,
  findEnv,
  listEnv,
  listSecretFiles,
  refuseSameNames,
  refuseUnusable,
  replaceEnv,
  replaceSecretFiles,
  resolveEnvInput,
  resolveValue,
  type SecretFileEntry,
  setEnv,
} from '../env-store.ts'
import { requireService } from '../require.ts'

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
    const { id } = requireService(context, actor, params.serviceId)
    return presentEnv(
      actor,
      pageAfter(listEnv(context, id), ({ key }) => key, query),
    )
  },
  replaceEnvVars({ actor, params, body }, context) {
    const { id, type } = requireService(context, actor, params.serviceId)
    replaceEnv(context, id, resolveEnvInput(body, type))
    return presentEnv(actor, listEnv(context, id))
  },
  getEnvVar({ actor, params }, context) {
    const { id } = requireService(context, actor, params.serviceId)
    const value = findEnv(context, id, params.key)
    if (value === undefined) throw new AppError('not_found', `The service has no variable ${params.key}.`)
    return shownEnv(actor, { key: params.key, value })
  },
  setEnvVar({ actor, params, body }, context) {
    const { id, type } = requireService(context, actor, params.serviceId)
    const fail = () => new AppError('validation_failed', 'Give either a value or generateValue: true.')
    const entry = { key: params.key, value: resolveValue(body, fail) }
    refuseUnusable(entry, type)
    setEnv(context, id, entry)
    return shownEnv(actor, entry)
  },
  deleteEnvVar({ actor, params }, context) {
    const { id } = requireService(context, actor, params.serviceId)
    if (!deleteEnv(context, id, params.key)) throw new AppError('not_found', `The service has no variable ${params.key}.`)
  },
  listSecretFiles({ actor, params, query }, context) {
    const { id } = requireService(context, actor, params.serviceId)
    return presentFiles(
      actor,
      pageAfter(listSecretFiles(context, id), ({ name }) => name, query),
    )
  },
  replaceSecretFiles({ actor, params, body }, context) {
    const { id } = requireService(context, actor, params.serviceId)
    refuseSameNames(body)
    replaceSecretFiles(context, id, body)
    return presentFiles(actor, listSecretFiles(context, id))
  },
}

const maySee = (actor: Actor): boolean => actor.permissions.has('env.read')

const shownEnv = (actor: Actor, entry: EnvEntry): EnvVar => (maySee(actor) ? entry : { key: entry.key, value: '', hidden: true })

const shownFile = (actor: Actor, file: SecretFileEntry): SecretFile =>
  maySee(actor) ? file : { name: file.name, content: '', hidden: true }

const presentEnv = (actor: Actor, entries: readonly EnvEntry[]) =>
  pageOf(
    'envVar',
    entries.map((entry) => shownEnv(actor, entry)),
    ({ key }) => [key],
  )

const presentFiles = (actor: Actor, files: readonly SecretFileEntry[]) =>
  pageOf(
    'secretFile',
    files.map((file) => shownFile(actor, file)),
    ({ name }) => [name],
  )

function pageAfter<T>(items: readonly T[], keyOf: (item: T) => string, query: { cursor?: string; limit?: number }): T[] {
  const after = idAfter(query.cursor)
  const start = after === undefined ? 0 : items.findIndex((item) => keyOf(item) > after)
  return start === -1 ? [] : items.slice(start, start + (query.limit ?? DEFAULT_PAGE_ITEMS))
}
