import type { Database } from 'bun:sqlite'
import type { DeployStatus } from '../../../../shared/deploy.ts'
import { lowestIdAt } from '../../../platform/id.ts'
import type { ReportState } from './plan.ts'

/** How long a deploy is told of: a host that does not answer for longer learns it no more. */
export const TOLD_FOR_MS = 24 * 60 * 60_000

/** A deploy of a commit, and what was told of it. Times are milliseconds since 1970. */
export interface ReportedDeploy {
  deployId: string
  serviceId: string
  status: DeployStatus
  commit: string
  installationId: string | null
  reportId: string | null
  told: ReportState | null
  attempts: number
  nextAttemptAt: number
}

/** Deploys of commits in a workspace since a time, oldest first. */
export const deploysOfCommits = (db: Database, workspaceId: string, since: number): ReportedDeploy[] =>
  db
    .query<ReportedDeploy, { workspaceId: string; lowest: string }>(
      `SELECT d.id AS deployId, d.service_id AS serviceId, d.status, d.commit_id AS "commit", r.installation_id AS installationId,
         r.report_id AS reportId, r.told, coalesce(r.attempts, 0) AS attempts, coalesce(r.next_attempt_at, 0) AS nextAttemptAt
       FROM services s JOIN deploys d ON d.service_id = s.id AND d.id > $lowest
       LEFT JOIN source_host_reports r ON r.deploy_id = d.id
       WHERE s.workspace_id = $workspaceId AND s.deleted_at IS NULL AND d.commit_id IS NOT NULL ORDER BY d.id`,
    )
    .all({ workspaceId, lowest: lowestIdAt('deploy', since) })

export interface Told {
  deployId: string
  installationId: string
  reportId: string | null
  told: ReportState
}

/** Writes down that a host took what it was told. */
export function putTold(db: Database, told: Told): void {
  db.query(
    `INSERT INTO source_host_reports (deploy_id, installation_id, report_id, told)
     VALUES ($deployId, $installationId, $reportId, $told)
     ON CONFLICT (deploy_id) DO UPDATE SET installation_id = excluded.installation_id, report_id = excluded.report_id,
       told = excluded.told, problem = NULL, attempts = 0, next_attempt_at = 0`,
  ).run({ ...told })
}

export interface Untold {
  deployId: string
  installationId: string
  problem: string
  attempts: number
  nextAttemptAt: number
}

/** Writes down that a host did not take it, and when it is told again. */
export function putUntold(db: Database, untold: Untold): void {
  db.query(
    `INSERT INTO source_host_reports (deploy_id, installation_id, problem, attempts, next_attempt_at)
     VALUES ($deployId, $installationId, $problem, $attempts, $nextAttemptAt)
     ON CONFLICT (deploy_id) DO UPDATE SET installation_id = excluded.installation_id, problem = excluded.problem,
       attempts = excluded.attempts, next_attempt_at = excluded.next_attempt_at`,
  ).run({ ...untold })
}

/** Forgets what was told of deploys from before a time. */
export const forgetReportsBefore = (db: Database, time: number): void =>
  void db.query('DELETE FROM source_host_reports WHERE deploy_id < ?').run(lowestIdAt('deploy', time))
