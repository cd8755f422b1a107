import { AppError } from '../../../shared/error.ts'
import type { Operations } from '../../../shared/operations/all.ts'
import { allQuotas, type Quota, quotaNames } from '../../../shared/quota.ts'
import type { Actor, Handlers } from '../../http/handlers/call.ts'
import type { IdentityContext } from '../context.ts'
import { readSeeded } from '../memberships/seeded.ts'
import { limitsIn, usageOf } from '../quotas/enforce.ts'
import { ownLimits, setLimits } from '../quotas/store.ts'
import { requireDetails } from './operations.ts'

export const quotaRoutes: Handlers<Extract<keyof Operations, 'listQuotas' | 'setQuotas'>, IdentityContext> = {
  listQuotas: ({ actor }, context) => quotasOf(context, actor.workspaceId),
  setQuotas({ actor, params, body, note }, context) {
    const workspaceId = settableBy(context, actor, params.workspaceId)
    const before = ownLimits(context.db, workspaceId)
    setLimits(context.db, workspaceId, body)
    note({ target: workspaceId, workspaceIds: [...new Set([actor.workspaceId, workspaceId])], metadata: { before, set: body } })
    return quotasOf(context, workspaceId)
  },
}

function quotasOf(context: IdentityContext, workspaceId: string): Quota[] {
  const limits = limitsIn(context, workspaceId)
  const used = usageOf(context, workspaceId)
  const own = ownLimits(context.db, workspaceId)
  return allQuotas.map((name) => ({
    name,
    description: quotaNames[name],
    used: used[name],
    limit: limits[name] ?? null,
    isDefault: own[name] === undefined,
  }))
}

/** Quotas are set by whoever manages the workspace of the first start: whose limits they are may not lift them. */
function settableBy({ db }: IdentityContext, actor: Actor, workspaceId: string): string {
  const isOperator = readSeeded(db)?.workspaceId === actor.workspaceId
  if (!isOperator && workspaceId === actor.workspaceId)
    throw new AppError(
      'forbidden',
      'Quotas are set by the operator of this server: with workspace.manage in the workspace of its first start.',
    )
  if (!isOperator) throw new AppError('not_found', 'There is no workspace with this id that you are a member of.')
  return requireDetails({ db }, workspaceId).id
}
