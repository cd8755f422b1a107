import type { Database } from 'bun:sqlite'
import { tableOf } from '../../platform/db/table.ts'
import type { Problem } from './plan.ts'

export interface StoredProblem extends Problem {
  workspaceId: string
  serviceId: string
  serviceName: string | null
  topic: string
}

export type ProblemKey = Pick<StoredProblem, 'workspaceId' | 'serviceId' | 'topic'>

const problems = tableOf<StoredProblem>('notification_problems', {
  workspaceId: 'workspace_id',
  serviceId: 'service_id',
  serviceName: 'service_name',
  topic: 'topic',
  about: 'about',
  overAt: 'over_at',
})

/** The problem of a topic; undefined where there is none. */
export const findProblem = (db: Database, { workspaceId, serviceId, topic }: ProblemKey): StoredProblem | undefined =>
  problems.get(db, 'WHERE workspace_id = $workspaceId AND service_id = $serviceId AND topic = $topic', { workspaceId, serviceId, topic })

/** Keeps a problem in mind, in place of what was known of its topic. */
export const putProblem = (db: Database, problem: StoredProblem): void => problems.put(db, problem)

/** Forgets the problem of a topic. */
export const dropProblem = (db: Database, { workspaceId, serviceId, topic }: ProblemKey): void =>
  void problems.remove(db, { workspaceId, serviceId, topic })

/** Forgets all problems of a service. */
export const dropProblemsOf = (db: Database, workspaceId: string, serviceId: string): void =>
  void problems.remove(db, { workspaceId, serviceId })

/** Problems of a workspace that count as over by now (ms since 1970). */
export const problemsOver = (db: Database, workspaceId: string, now: number): StoredProblem[] =>
  problems.all(db, 'WHERE workspace_id = $workspaceId AND over_at <= $now', { workspaceId, now })

/** When the next problem of a workspace counts as over (ms since 1970); undefined where none is to. */
export const nextOverAt = (db: Database, workspaceId: string): number | undefined =>
  db.query<{ at: number | null }, [string]>('SELECT min(over_at) AS at FROM notification_problems WHERE workspace_id = ?').get(workspaceId)
    ?.at ?? undefined
