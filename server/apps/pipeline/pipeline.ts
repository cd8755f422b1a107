/**
 * The way of one deploy: queued, build, pre-deploy command, update, and its end. Each step writes down that it begins before it
 * does anything, and can be begun again; a deploy that an earlier control plane left unfinished goes on at the step it was in. Only the
 * pre-deploy command is not begun a second time: it goes on while nobody looks, or its end has been written down.
 * The update itself is the reconciler's (instances/plan.ts): the pipeline makes the deploy the candidate and waits for the verdict.
 */

import type { DeployStatus } from '../../../shared/deploy.ts'
import { AppError } from '../../../shared/error.ts'
import { traitsOf } from '../../../shared/service-type.ts'
import { describeError } from '../../platform/server-log.ts'
import { unlessAborted } from '../../platform/work/unless-aborted.ts'
import type { AppContext } from '../context.ts'
import { followDeployLog, writeDeployLog } from '../deploys/deploy-log.ts'
import { type Ending, endDeploy, endStage, settleDeploy } from '../deploys/finish.ts'
import { deployById, type StoredDeploy, updateDeploy } from '../deploys/store.ts'
import { strategyOf } from '../deploys/strategy.ts'
import type { DiskOfInstance } from '../disks/workload.ts'
import { recordEvent } from '../events/store.ts'
import { type StoredService, serviceById } from '../services/store.ts'
import { preDeployIdOf } from '../workloads/step-store.ts'
import { buildDeploy } from './build.ts'
import { withDisk, withoutDisk } from './disk-downtime.ts'
import { PLATFORM_FAILED, wordsFor } from './failure-words.ts'
import { preDeployCommandOf, runPreDeploy } from './pre-deploy.ts'
import { endSteps, isStepBegun } from './run-step.ts'

export interface Run {
  signal: AbortSignal
  ended: Promise<void>
}

export async function runDeploy(context: AppContext, deployId: string, { signal, ended }: Run): Promise<void> {
  const deploy = deployById(context.db, deployId)
  const service = deploy && serviceById(context.db, deploy.serviceId)
  if (deploy === undefined || service === undefined || deploy.finishedAt !== null) return
  followDeployLog(context, deploy)
  const isCandidate = await advance(context, service, { deploy, signal })
  // A cancel in this phase goes through the reconciler, so only a stop of the control plane ends the wait early.
  if (isCandidate) await unlessAborted(ended, context.stopping)
  await settleDeploy(context, deployId)
}

async function advance(
  context: AppContext,
  service: StoredService,
  { deploy, signal }: { deploy: StoredDeploy; signal: AbortSignal },
): Promise<boolean> {
  for (const step of [build, preDeploy, beginUpdate]) {
    const now = current(context, deploy)
    if (now.finishedAt !== null) return false
    const failure = isCanceled(now) ? canceled : await step(context, service, { deploy: now, signal })
    if (failure !== undefined) {
      await endSteps(context, now)
      endHere(context, service, { deploy, failure })
      return false
    }
  }
  return true
}

const canceled: Ending = { status: 'canceled', reason: 'Canceled on request.' }

/** The cancel of an update is the reconciler's, which has instances to take back. */
const isCanceled = (deploy: StoredDeploy): boolean => deploy.cancelRequestedAt !== null && deploy.status !== 'update_in_progress'

type Step = (
  context: AppContext,
  service: StoredService,
  work: { deploy: StoredDeploy; signal: AbortSignal },
) => Promise<Ending | undefined>

const build: Step = async (context, service, { deploy, signal }) => {
  if (deploy.releaseId !== null) return undefined
  const run = () => buildDeploy(context, service, { deploy, signal })
  const failure = await attempt(context, service, { deploy, signal, stage: stages.build, run })
  context.work.poke('deploys')
  return failure
}

const preDeploy: Step = async (context, service, { deploy, signal }) => {
  if (deploy.status === 'update_in_progress' || !hasPreDeploy(context, deploy)) return undefined
  const command = (disk: DiskOfInstance) => runPreDeploy(context, service, { deploy, disk, signal })
  const isStopFirst = strategyOf(context.db, service.id) === 'stop_first'
  const isBegun = isStepBegun(context, preDeployIdOf(deploy))
  if (isStopFirst && !isBegun)
    writeDeployLog(context, deploy, 'The pre-deploy command gets the disk, so nothing else of the service runs meanwhile')
  const run = () => (isStopFirst ? withDisk(context, service, { signal, isBegun, run: command }) : withoutDisk(command))
  return attempt(context, service, { deploy, signal, stage: stages.preDeploy, run })
}

const hasPreDeploy = (context: AppContext, deploy: StoredDeploy): boolean =>
  deploy.trigger !== 'rollback' && preDeployCommandOf(context, deploy) !== ''

const stages = {
  build: { status: 'build_in_progress', failed: 'build_failed', started: 'build_started' },
  preDeploy: {
    status: 'pre_deploy_in_progress',
    failed: 'pre_deploy_failed',
    started: 'pre_deploy_started',
  },
} as const

interface Attempt {
  deploy: StoredDeploy
  stage: (typeof stages)[keyof typeof stages]
  run: () => Promise<void>
  signal: AbortSignal
}

async function attempt(context: AppContext, service: StoredService, { deploy, stage, run, signal }: Attempt): Promise<Ending | undefined> {
  // A build is begun anew after each interruption, and a pre-deploy command is gone on with.
  const isBegun = deploy.status === stage.status
  if (!isBegun || stage === stages.build)
    begin(context, service, { deploy, status: stage.status, event: isBegun ? undefined : stage.started })
  return await failureOf(context, { stage, run, signal })
}

const beginUpdate: Step = async (context, service, { deploy }) => {
  if (deploy.status !== 'update_in_progress') {
    begin(context, service, { deploy, status: 'update_in_progress', event: undefined })
    writeDeployLog(context, deploy, updateText(context, service, deploy))
  }
  context.work.poke('service', service.id)
  return undefined
}

function updateText(context: AppContext, { id, type }: StoredService, deploy: StoredDeploy): string {
  const { runsProgram, isScheduled } = traitsOf(type)
  if (!runsProgram) return 'Publishing'
  if (isScheduled) return 'From now on it runs by its schedule'
  return strategyOf(context.db, id) === 'rolling' || hasPreDeploy(context, deploy)
    ? 'Starting the new release'
    : 'Stopping the old release, then starting the new one: the service has a disk'
}

interface Beginning {
  deploy: StoredDeploy
  status: DeployStatus
  event: 'build_started' | 'pre_deploy_started' | undefined
}

function begin(context: AppContext, service: StoredService, { deploy, status, event }: Beginning): void {
  const now = context.now()
  const details = { deployId: deploy.id }
  context.db.transaction(() => {
    if (status !== deploy.status) endStage(context, { deploy, owner: service }, 'succeeded')
    const strategy = status === 'build_in_progress' ? {} : { strategy: strategyOf(context.db, service.id) }
    const started = status === 'update_in_progress' ? { updateStartedAt: now } : {}
    updateDeploy(context.db, deploy.id, { status, startedAt: deploy.startedAt ?? now, ...strategy, ...started }, now)
    if (deploy.startedAt === null)
      recordEvent(context.db, { owner: service, type: 'deploy_started', details: { ...details, trigger: deploy.trigger }, now })
    if (event !== undefined) recordEvent(context.db, { owner: service, type: event, details, now })
  })()
}

async function failureOf(context: AppContext, { stage, run, signal }: Omit<Attempt, 'deploy'>): Promise<Ending | undefined> {
  const status = stage.failed
  try {
    await run()
    return undefined
  } catch (error) {
    if (signal.aborted) {
      context.stopping.throwIfAborted()
      return signal.reason instanceof AppError ? { status, reason: signal.reason.message } : canceled
    }
    const words = wordsFor(error)
    if (words === undefined) context.log.error('deploy step failed', describeError(error))
    return { status, reason: words ?? PLATFORM_FAILED }
  }
}

function endHere(context: AppContext, service: StoredService, { deploy, failure }: { deploy: StoredDeploy; failure: Ending }): void {
  context.db.transaction(() => {
    if (current(context, deploy).finishedAt === null) endDeploy(context, { deploy, owner: service }, failure)
  })()
  context.work.poke('service', service.id)
}

const current = (context: AppContext, deploy: StoredDeploy): StoredDeploy => deployById(context.db, deploy.id) ?? deploy
