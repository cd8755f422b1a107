import type { DeployHook } from '../../../shared/deploy-hook.ts'
import { hashToken, newToken } from '../../identity/tokens/token.ts'
import { inOneChange } from '../../platform/db/change.ts'
import type { AppContext } from '../context.ts'
import { hookOf, putHook, type StoredHook } from './store.ts'

type HookContext = Pick<AppContext, 'db' | 'now' | 'sealer' | 'publicUrl'>

const purposeOf = (serviceId: string): string => `deploy-hook:${serviceId}`

export const showHook = (context: HookContext, serviceId: string): DeployHook =>
  inOneChange(context.db, () => presentHook(context, hookOf(context.db, serviceId) ?? makeHook(context, serviceId)))

export const rotateHook = (context: HookContext, serviceId: string): DeployHook => presentHook(context, makeHook(context, serviceId))

function makeHook({ db, now, sealer }: HookContext, serviceId: string): StoredHook {
  const token = newToken()
  const hook = { serviceId, tokenHash: hashToken(token), tokenSealed: sealer.seal(token, purposeOf(serviceId)), createdAt: now() }
  putHook(db, hook)
  return hook
}

const presentHook = ({ sealer, publicUrl }: HookContext, { serviceId, tokenSealed, createdAt }: StoredHook): DeployHook => ({
  serviceId,
  url: `${publicUrl}/v1/deploy-hooks/${sealer.open(tokenSealed, purposeOf(serviceId))}`,
  createdAt: new Date(createdAt).toISOString(),
})
