import { AppError } from '../../../shared/error.ts'
import type { QuotaName } from '../../../shared/quota.ts'
import { inOneChange } from '../../platform/db/change.ts'
import type { IdentityContext } from '../context.ts'
import { readSeeded } from '../memberships/seeded.ts'
import { exceededQuota, type Limits, limitsOf } from './limits.ts'
import { ownLimits, storedUsage, workspacesMadeBy } from './store.ts'

export type QuotaDeps = LimitDeps & UsageDeps

type LimitDeps = Pick<IdentityContext, 'db' | 'config' | 'machine'>
type UsageDeps = Pick<IdentityContext, 'db' | 'now' | 'uploads' | 'shells'>

export function limitsIn({ db, config, machine }: LimitDeps, workspaceId: string): Limits {
  const isOperators = readSeeded(db)?.workspaceId === workspaceId
  return limitsOf({ own: ownLimits(db, workspaceId), configured: config.CP_QUOTAS, isOperators, machine })
}

export const usageOf = ({ db, now, uploads, shells }: UsageDeps, workspaceId: string): Record<QuotaName, number> => ({
  ...storedUsage(db, workspaceId, now()),
  uploads: uploads.countOf(workspaceId),
  shells: shells.countOf(workspaceId),
})

/** Only taking more is refused. @throws AppError `conflict`, or `rate_limited` for what passes by itself. */
export function withinQuotas<T>(context: QuotaDeps, workspaceId: string, change: () => T): T {
  const limits = limitsIn(context, workspaceId)
  if (Object.keys(limits).length === 0) return change()
  return inOneChange(context.db, () => {
    const before = usageOf(context, workspaceId)
    const result = change()
    const after = usageOf(context, workspaceId)
    const name = exceededQuota(limits, before, after)
    if (name !== undefined) throw tooMuch({ workspaceId, name, limit: limits[name] ?? 0, used: before[name], wanted: after[name] })
    return result
  })
}

/** For places that only memory knows. @throws AppError as `withinQuotas`. */
export function requirePlace(context: QuotaDeps, workspaceId: string, name: 'uploads' | 'shells'): void {
  refuseMore(context, { workspaceId, name, used: context[name].countOf(workspaceId) })
}

export function requireWorkspaceRoom(context: LimitDeps, workspaceId: string, email: string): void {
  refuseMore(context, { workspaceId, name: 'workspaces', used: workspacesMadeBy(context.db, email) })
}

function refuseMore(context: LimitDeps, place: Pick<Excess, 'workspaceId' | 'name' | 'used'>): void {
  const limit = limitsIn(context, place.workspaceId)[place.name]
  if (limit !== undefined && place.used >= limit) throw tooMuch({ ...place, limit, wanted: place.used + 1 })
}

interface Excess {
  workspaceId: string
  name: QuotaName
  limit: number
  used: number
  wanted: number
}

/** Quotas whose use ends without anybody's doing, with the seconds after which it is worth asking again. */
const passing: Partial<Record<QuotaName, number>> = { deploys: 30, uploads: 5 }

function tooMuch({ workspaceId, name, limit, used, wanted }: Excess): AppError {
  const retryAfterSeconds = passing[name]
  const advice = retryAfterSeconds === undefined ? 'Give some up' : 'Wait for some to end'
  const message =
    `The quota "${name}" of this workspace is ${limit}, of which it has ${used}: this would make ${wanted}. ` +
    `${advice}, or ask the operator of this server for more: cpctl workspaces quota ${workspaceId} --${flagOf(name)} ${Math.ceil(wanted)}.`
  return retryAfterSeconds === undefined ? new AppError('conflict', message) : new AppError('rate_limited', message, { retryAfterSeconds })
}

const flagOf = (name: QuotaName): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
