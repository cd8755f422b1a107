/**
 * Hosts are told how deploys of their commits go. What they are to be told follows from the deploys alone, and what they were told is written
 * down, so that the two are compared at any time: after an event, a kill, or a day without the host. No deploy waits for it.
 */
import type { Database } from 'bun:sqlite'
import { deployPath } from '../../../../shared/deploy.ts'
import { traitsOf } from '../../../../shared/service-type.ts'
import { describeError } from '../../../platform/server-log.ts'
import { createDriver } from '../../../platform/work/driver.ts'
import { createPlaces } from '../../../platform/work/places.ts'
import type { AppContext } from '../../context.ts'
import { urlOf } from '../../services/addresses.ts'
import { locate } from '../hosts/credential.ts'
import { ifConfigured } from '../hosts/open.ts'
import { connectedWorkspaces, installationsOf } from '../store/installations.ts'
import { pausedUntil } from '../store/pauses.ts'
import { type DeployOfCommit, forgetReport, reportById, reportsOfGone, type StoredReport, untoldDeploys } from '../store/reports.ts'
import { lastReportOf, progress, reportOf, wantedStates } from './plan.ts'
import { type Telling, tell } from './tell.ts'

const WORKSPACES_AT_ONCE = 4
/** Longer than all attempts take: what was not told of an older change is not told any more. */
const LOOKED_BACK_MS = 3 * 24 * 60 * 60_000

type ReportContext = Pick<
  AppContext,
  'after' | 'config' | 'db' | 'hasCertificate' | 'log' | 'lookup' | 'now' | 'publicUrl' | 'sealer' | 'stopping'
>

export interface ReportWork {
  poke(workspaceId: string): void
  pokeAll(): void
  settled(): Promise<void>
}

export function createReportWork(context: ReportContext): ReportWork {
  const places = createPlaces(WORKSPACES_AT_ONCE)
  const driver = createDriver({
    run: (workspaceId) => places.run(() => reconcile(context, workspaceId)),
    onError: (workspaceId, error) => context.log.error('deploys not told to a source host', { workspaceId, ...describeError(error) }),
    now: context.now,
    after: context.after,
    signal: context.stopping,
  })
  return {
    poke: driver.poke,
    pokeAll() {
      for (const workspaceId of connectedWorkspaces(context.db)) driver.poke(workspaceId)
    },
    settled: driver.settled,
  }
}

async function reconcile(context: ReportContext, workspaceId: string): Promise<number | undefined> {
  // Looked for anew each time: while a host took its time, a deploy may have gone on, or gone.
  for (;;) {
    const { due, nextAt } = lookThrough(context, workspaceId)
    if (due === undefined) return nextAt
    await tell(context, due)
  }
}

function lookThrough(context: ReportContext, workspaceId: string): { due?: Telling; nextAt?: number } {
  let nextAt: number | undefined
  for (const telling of tellingsOf(context, workspaceId)) {
    const at = dueAt(context.db, telling)
    if (at <= context.now()) return { due: telling }
    nextAt = Math.min(nextAt ?? at, at)
  }
  return nextAt === undefined ? {} : { nextAt }
}

const dueAt = (db: Database, { report, located }: Telling): number =>
  Math.max(report.nextAttemptAt, pausedUntil(db, located.installation.id))

function* tellingsOf(context: ReportContext, workspaceId: string): Generator<Telling> {
  const { db, now } = context
  const { CP_BASE_DOMAIN: domain } = context.config
  if (installationsOf(db, workspaceId).length === 0) return
  for (const before of reportsOfGone(db, workspaceId)) {
    const report = lastReportOf(before, now())
    if (report === undefined) forgetReport(db, before)
    else yield* withHost(context, report, goneSaying(context))
  }
  for (const deploy of untoldDeploys(db, { workspaceId, since: now() - LOOKED_BACK_MS, states: wantedStates })) {
    const report = reportOf(deploy, { before: reportById(db, deploy.id), workspaceId, domain, now: now() })
    if (report !== undefined) yield* withHost(context, report, sayingOf(context, deploy, report))
  }
}

function withHost(context: ReportContext, report: StoredReport, said: Telling['said']): Telling[] {
  const located = ifConfigured(() => locate(context, report.workspaceId, report.repository))
  return located === undefined ? [] : [{ report, located, said }]
}

function sayingOf(context: ReportContext, { id, serviceId, status, slug, type, isNewest }: DeployOfCommit, report: StoredReport) {
  const { description } = progress[status]
  const logUrl = context.publicUrl + deployPath({ workspaceId: report.workspaceId, serviceId, deployId: id })
  const isReached = report.wanted === 'success' && traitsOf(type).isRouted
  return { isNewest: isNewest === 1, description, logUrl, ...(isReached && { serviceUrl: urlOf(context, slug) }) }
}

const goneSaying = ({ publicUrl }: ReportContext): Telling['said'] => ({
  isNewest: true,
  description: 'The service was deleted',
  logUrl: publicUrl,
})
