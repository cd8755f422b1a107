/**
 * Tells source hosts how deploys of their commits go. What is to be told is what a deploy's status is and its report does not say yet, so
 * that nothing is lost by a kill, and a host that was away is told of the end alone. No deploy waits for it.
 */
import { AppError } from '../../../../shared/error.ts'
import { traitsOf } from '../../../../shared/service-type.ts'
import { describeError } from '../../../platform/server-log.ts'
import { createDriver } from '../../../platform/work/driver.ts'
import type { AppContext } from '../../context.ts'
import { urlOf } from '../../services/addresses.ts'
import { type StoredService, serviceById } from '../../services/store.ts'
import { locate } from '../hosts/credential.ts'
import { openIfConfigured } from '../hosts/open.ts'
import { pauseAfter, pauseAskedBy } from '../pauses.ts'
import type { CommitReport, SourceHost } from '../port.ts'
import { allInstallations, installationById, installationsOf, type StoredInstallation } from '../store/installations.ts'
import { type Telling, tellingOf } from './plan.ts'
import { deploysOfCommits, forgetReportsBefore, putTold, putUntold, type ReportedDeploy, TOLD_FOR_MS } from './store.ts'

type ReportContext = Pick<
  AppContext,
  'after' | 'config' | 'db' | 'hasCertificate' | 'log' | 'lookup' | 'now' | 'publicUrl' | 'sealer' | 'stopping'
>

export interface ReportWork {
  /** Looks at the deploys of a workspace. */
  poke(workspaceId: string): void
  pokeAll(): void
  settled(): Promise<void>
}

const LONGEST_PAUSE_MS = 15 * 60_000

export function createReportWork(context: ReportContext): ReportWork {
  const { db, log, now, after, stopping } = context
  const rests: Rests = new Map()
  const driver = createDriver({
    run: (installationId) => tellAll(context, rests, installationId),
    onError: (installationId, error) => log.error('deploys not told to a source host', { installationId, ...describeError(error) }),
    ...{ now, after, signal: stopping },
  })
  const pokeThose = (installations: readonly StoredInstallation[]): void => {
    for (const { id } of installations) driver.poke(id)
  }
  return {
    poke: (workspaceId) => pokeThose(installationsOf(db, workspaceId)),
    pokeAll() {
      forgetReportsBefore(db, now() - TOLD_FOR_MS)
      pokeThose(allInstallations(db))
    },
    settled: driver.settled,
  }
}

/** Until when an installation is left alone (ms since 1970). */
type Rests = Map<string, number>

interface At {
  installation: StoredInstallation
  host: SourceHost
  rests: Rests
}

/** Tells what is due, in the order of the deploys. Returns when there is more to be told (ms since 1970). */
async function tellAll(context: ReportContext, rests: Rests, installationId: string): Promise<number | undefined> {
  const { db, now, stopping } = context
  const installation = installationById(db, installationId)
  const host = installation && openIfConfigured(context, installation)
  if (installation === undefined || host === undefined || installation.problem !== null) return undefined
  const since = Math.max(installation.createdAt, now() - TOLD_FOR_MS)
  const later: number[] = []
  for (const deploy of deploysOfCommits(db, installation.workspaceId, since)) {
    const restsUntil = rests.get(installationId) ?? 0
    if (restsUntil > now()) return restsUntil
    const telling = tellingOf(deploy)
    if (telling === undefined || stopping.aborted) continue
    const nextAt =
      deploy.nextAttemptAt > now() ? deploy.nextAttemptAt : await tell(context, { installation, host, rests }, { deploy, telling })
    if (nextAt !== undefined) later.push(nextAt)
  }
  return later.length === 0 ? undefined : Math.min(...later)
}

interface Due {
  deploy: ReportedDeploy
  telling: Telling
}

/** Returns when it is tried again (ms since 1970); undefined when it is told, or not this account's to be told. */
async function tell(context: ReportContext, { installation, host, rests }: At, { deploy, telling }: Due): Promise<number | undefined> {
  const { db, now, stopping } = context
  const service = serviceById(db, deploy.serviceId)
  const located = service && locate(context, service.workspaceId, service.labels.repo)
  if (service === undefined || located?.installation.id !== installation.id) return undefined
  const isSame = deploy.installationId === installation.id
  const report = reportOf(context, service, { ...deploy, reportId: isSame ? deploy.reportId : null }, telling)
  const key = { deployId: deploy.deployId, installationId: installation.id }
  try {
    const reportId = await host.report(located.name, report, stopping)
    putTold(db, { ...key, reportId, told: telling.state })
    return undefined
  } catch (error) {
    if (stopping.aborted || !(error instanceof AppError)) throw error
    const attempts = deploy.attempts + 1
    const nextAttemptAt = now() + (pauseAskedBy(error) ?? Math.min(pauseAfter(attempts), LONGEST_PAUSE_MS))
    putUntold(db, { ...key, problem: error.message, attempts, nextAttemptAt })
    // What one deploy is not taken for now, others are not either.
    if (error.code === 'rate_limited' || error.code === 'unavailable') rests.set(installation.id, nextAttemptAt)
    return nextAttemptAt
  }
}

function reportOf(
  context: ReportContext,
  service: StoredService,
  { deployId, commit, reportId }: ReportedDeploy,
  telling: Telling,
): CommitReport {
  const { state, description } = telling
  const page = new URLSearchParams({ ownerId: service.workspaceId, serviceId: service.id, deployId })
  const isReached = state === 'success' && traitsOf(service.type).isRouted
  return {
    ...{ commit, state, description, reportId },
    environment: service.name,
    logUrl: `${context.publicUrl}/deploys?${page}`,
    ...(isReached && { serviceUrl: urlOf(context, service.slug) }),
  }
}
