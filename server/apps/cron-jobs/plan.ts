/**
 * What the schedule of one cron job asks for now, decided from its rule, the time that was last written down as the next one, and the
 * runs under way. A pure function of the wall clock, which may be set forth and back, and stand still while the control plane is away:
 *
 * - Times that have passed unseen are not made up for one by one: the newest of them is run, when it is less than an hour old.
 * - A clock that is set back by less than three hours (Vixie cron's limit, the time changes by hand) meets times that had their run:
 *   the next one stays as it is. Set back further, it was wrong before, and the next time is looked for anew.
 */
import type { CronRule } from '../../../shared/cron.ts'
import { latestFireWithin, nextFireAt } from './schedule.ts'
import type { NextDue } from './store.ts'

/** A run that could not start in its time is still worth having for this long. */
export const CATCH_UP_MS = 3_600_000
const SET_BACK_MS = 3 * 3_600_000

export interface CronSituation {
  now: number
  rule: CronRule
  isActive: boolean
  kept: NextDue | undefined
  openRunIds: readonly string[]
}

export interface CronPlan {
  next: NextDue | undefined
  run: { dueAt: number; replacedRunIds: readonly string[] } | undefined
  skipped: { dueAt: number; reason: string }[]
}

const nothing: CronPlan = { next: undefined, run: undefined, skipped: [] }

export function planCronJob(situation: CronSituation): CronPlan {
  const { now, rule, isActive, kept } = situation
  const { schedule, timezone } = rule
  if (!isActive) return kept === undefined || kept.nextDueAt === null ? nothing : { ...nothing, next: { ...kept, nextDueAt: null } }
  const next = (): NextDue => ({ schedule, timezone, nextDueAt: nextFireAt(rule, now) ?? null })
  const dueAt = kept?.schedule === schedule && kept.timezone === timezone ? kept.nextDueAt : null
  if (dueAt === null) return { ...nothing, next: next() }
  if (dueAt <= now) return { next: next(), ...planDue(situation, dueAt) }
  const isSetBack = dueAt - now > SET_BACK_MS && dueAt - (nextFireAt(rule, now) ?? dueAt) > SET_BACK_MS
  return isSetBack ? { ...nothing, next: next() } : nothing
}

function planDue({ now, rule, openRunIds }: CronSituation, dueAt: number): Pick<CronPlan, 'run' | 'skipped'> {
  const newest = latestFireWithin(rule, Math.max(dueAt, now - CATCH_UP_MS), now)
  const away = 'The platform was away or busy then.'
  if (newest === undefined) return { run: undefined, skipped: [{ dueAt, reason: `${away} It is too late to make up for it.` }] }
  const missed = newest === dueAt ? [] : [{ dueAt, reason: `${away} Of all the times since then only the newest is made up for.` }]
  const [running] = openRunIds
  if (running !== undefined && rule.overlapPolicy === 'skip') {
    return { run: undefined, skipped: [...missed, { dueAt: newest, reason: `Run ${running} was still under way.` }] }
  }
  return { run: { dueAt: newest, replacedRunIds: rule.overlapPolicy === 'replace' ? openRunIds : [] }, skipped: missed }
}
