import type { Database } from 'bun:sqlite'
import type { TimeSeries } from '../../../shared/metrics.ts'
import { type LagSample, lagsOf } from '../../apps/datastores/lag-store.ts'
import { seriesOf } from '../../telemetry/metrics/values.ts'
import type { Question } from './answer.ts'
import { joinSteps, planQuery } from './rules.ts'

/** How far replicas were behind, the most in each step; nothing of what is no replica. */
export function answerLag(db: Database, question: Question): TimeSeries[] {
  const plan = planQuery(question, { nowMs: question.nowMs, services: question.services.length, isByInstance: false })
  return question.services.flatMap((resource) =>
    seriesOf({ resource }, 'seconds', joinSteps(lagsOf(db, resource, plan), plan.step, mostOf), ({ lagMs }) => lagMs / 1000),
  )
}

const mostOf = (at: number, parts: LagSample[]): LagSample => ({
  datastoreId: parts[0]?.datastoreId ?? '',
  at,
  lagMs: Math.max(...parts.map(({ lagMs }) => lagMs)),
})
