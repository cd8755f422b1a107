import type { Database } from 'bun:sqlite'
import type { DeployStatus } from '../../../../shared/deploy.ts'
import type { ServiceType } from '../../../../shared/service-type.ts'
import { tableOf } from '../../../platform/db/table.ts'
import type { ReportState } from '../port.ts'

/** What a host has been told of one deploy, and is to be told. Times are milliseconds since 1970. */
export interface StoredReport {
  /** Id of the deploy. */
  id: string
  deployId: string | null
  workspaceId: string
  repository: string
  environment: string
  commitId: string
  installationId: string | null
  told: ReportState | null
  wanted: ReportState
  reportId: string | null
  problem: string | null
  attempts: number
  nextAttemptAt: number
}

const reports = tableOf<StoredReport>('commit_reports', {
  id: 'id',
  deployId: 'deploy_id',
  workspaceId: 'workspace_id',
  repository: 'repository',
  environment: 'environment',
  commitId: 'commit_id',
  installationId: 'installation_id',
  told: 'told',
  wanted: 'wanted',
  reportId: 'report_id',
  problem: 'problem',
  attempts: 'attempts',
  nextAttemptAt: 'next_attempt_at',
})

/** A deploy of a commit, with what its report is made of. */
export interface DeployOfCommit {
  id: string
  serviceId: string
  status: DeployStatus
  commitId: string
  slug: string
  type: ServiceType
  /** What the service is deployed from now, as a URL. */
  repo: string
  /** The repository that its source is out of, as `repositoryKey` has it; null where that is none, or is not there yet. */
  sourceRepository: string | null
  sourceId: string | null
  isNewest: number
}

interface Untold {
  workspaceId: string
  /** Deploys that have not changed since then (ms since 1970) are left out. */
  since: number
  /** What is to be told of a deploy by its status. */
  states: Readonly<Record<DeployStatus, ReportState>>
}

/** Deploys of commits out of repositories of which a host was told something else, oldest first. All others are passed over by the database. */
export const untoldDeploys = (db: Database, { workspaceId, since, states }: Untold): DeployOfCommit[] =>
  db
    .query<DeployOfCommit, Record<string, string | number>>(
      `SELECT d.id, d.service_id AS serviceId, d.status, d.commit_id AS commitId, s.slug, s.type, json_extract(s.labels, '$.repo') AS repo,
         c.repository AS sourceRepository, d.source_id AS sourceId,
         NOT EXISTS (SELECT 1 FROM deploys n WHERE n.service_id = d.service_id AND n.commit_id = d.commit_id AND n.id > d.id) AS isNewest
       FROM deploys d JOIN services s ON s.id = d.service_id LEFT JOIN sources c ON c.id = d.source_id LEFT JOIN commit_reports r ON r.id = d.id
       WHERE s.workspace_id = $workspaceId AND d.commit_id IS NOT NULL AND d.updated_at > $since AND r.told IS NOT ($states ->> d.status)
         AND (r.id IS NOT NULL OR (repo <> '' AND ($states ->> d.status) NOT IN ('canceled', 'inactive')))
       ORDER BY +d.id`,
    )
    .all({ workspaceId, since, states: JSON.stringify(states) })

/** Reports of deploys that are gone by now, oldest first. */
export const reportsOfGone = (db: Database, workspaceId: string): StoredReport[] =>
  reports.all(db, 'WHERE workspace_id = $workspaceId AND deploy_id IS NULL ORDER BY id', { workspaceId })

/** What a host was told of a deploy; undefined where it was told nothing. */
export const reportById = (db: Database, id: string): StoredReport | undefined => reports.get(db, 'WHERE id = $id', { id })

/** Writes down what is to be told, before it is. */
export const putReport = (db: Database, report: StoredReport): void => reports.put(db, report)

/** Changes what is named. */
export const changeReport = (db: Database, id: string, change: Partial<StoredReport>): void => void reports.update(db, { id }, change)

/** Takes back what was wrong with a repository that takes reports again. */
export const clearProblems = (db: Database, { workspaceId, repository }: StoredReport): void =>
  void reports.update(db, { workspaceId, repository }, { problem: null })

/** Forgets one of a deploy that is gone. */
export const forgetReport = (db: Database, { id }: StoredReport): void => void reports.remove(db, { id })

/** The newest report that an installation's host refused; undefined where it takes them. */
export const refusedReport = (db: Database, installationId: string): StoredReport | undefined =>
  reports.get(db, 'WHERE installation_id = $installationId AND problem IS NOT NULL ORDER BY id DESC LIMIT 1', { installationId })
