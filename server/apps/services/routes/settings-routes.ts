import type { EnvVar, SecretFile } from '../../../../shared/env.ts'
import { AppError } from '../../../../shared/error.ts'
import type { Operations } from '../../../../shared/operations/all.ts'
import { DEFAULT_PAGE_ITEMS, idAfter, pageOf } from '../../../http/answers/page.ts'
import type { Handlers } from '../../../http/handlers/call.ts'
import { seesValues } from '../../../identity/scopes/protection.ts'
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
    const { id, environmentId } = requireService(context, actor, params.serviceId)
    return presentEnv(
      seesValues(context.db, actor, environmentId),
      pageAfter(listEnv(context, id), ({ key }) => key, query),
    )
  },
  replaceEnvVars({ actor, params, body }, context) {
    const { id, type, environmentId } = requireService(context, actor, params.serviceId)
    replaceEnv(context, id, resolveEnvInput(body, type))
    return presentEnv(seesValues(context.db, actor, environmentId), listEnv(context, id))
  },
  getEnvVar({ actor, params }, context) {
    const { id, environmentId } = requireService(context, actor, params.serviceId)
    const value = findEnv(context, id, params.key)
    if (value === undefined) throw new AppError('not_found', `The service has no variable ${params.key}.`)
    return shownEnv(seesValues(context.db, actor, environmentId), { key: params.key, value })
  },
  setEnvVar({ actor, params, body }, context) {
    const { id, type, environmentId } = requireService(context, actor, params.serviceId)
    const fail = () => new AppError('validation_failed', 'Give either a value or generateValue: true.')
    const entry = { key: params.key, value: resolveValue(body, fail) }
    refuseUnusable(entry, type)
    setEnv(context, id, entry)
    return shownEnv(seesValues(context.db, actor, environmentId), entry)
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

const shownEnv = (isShown: boolean, entry: EnvEntry): EnvVar => (isShown ? entry : { key: entry.key, value: '', hidden: true })

const shownFile = (isShown: boolean, file: SecretFileEntry): SecretFile => (isShown ? file : { name: file.name, content: '', hidden: true })

const presentEnv = (isShown: boolean, entries: readonly EnvEntry[]) =>
  pageOf(
    'envVar',
    entries.map((entry) => shownEnv(isShown, entry)),
    ({ key }) => [key],
  )

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
