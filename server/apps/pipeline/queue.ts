import type { AppError } from '../../../shared/error.ts'
import { countWorkspaces } from '../../identity/memberships/store.ts'
import { limitsIn } from '../../identity/quotas/enforce.ts'
import { describeError } from '../../platform/server-log.ts'
import { pause } from '../../platform/work/clock.ts'
import type { AppContext } from '../context.ts'
import { type StoredDeploy, unfinishedDeploys } from '../deploys/store.ts'
import { workspacesOfServices } from '../services/store.ts'
import { chooseDeploys, placesOfEach, takesPlace } from './choose.ts'
import { runDeploy } from './pipeline.ts'

/** Works on deploys: one at a time for a service, a bounded number of builds in all. The queue itself is the table of deploys. */
export interface DeployQueue {
  poke(): void
  interrupt(deployId: string, because?: AppError): void
  deployEnded(deployId: string): void
  whenSettled(serviceId: string): Promise<void>
  settled(): Promise<void>
}

const RETRY_MS = 2000

interface Running {
  deploy: StoredDeploy
  abort: AbortController
  ended: () => void
  done: Promise<void>
}

export function createDeployQueue(context: AppContext, signal: AbortSignal): DeployQueue {
  const running = new Map<string, Running>()
  /** Turns by workspace; a restart forgets them, which gives nobody more than their share. */
  const lastTurns = new Map<string, number>()
  let turns = 0

  function poke(): void {
    if (signal.aborted) return
    const unfinished = unfinishedDeploys(context.db)
    const owners = workspacesOfServices(context.db)
    const owned = (deploy: StoredDeploy) => ({ ...deploy, workspaceId: owners.get(deploy.serviceId) ?? '' })
    const maxBuilds = context.config.CP_BUILD_CONCURRENCY
    const places = placesOfEach(maxBuilds, countWorkspaces(context.db))
    const chosen = chooseDeploys(unfinished.map(owned), {
      // The rows are read again: a deploy that has its release by now takes no place among the builds.
      busy: [...running.values()].map(({ deploy }) => owned(unfinished.find(({ id }) => id === deploy.id) ?? deploy)),
      maxBuilds,
      placesOf: (workspaceId) => Math.min(places, limitsIn(context, workspaceId).builds ?? places),
      lastTurnOf: (workspaceId) => lastTurns.get(workspaceId) ?? 0,
    })
    for (const deploy of chosen) {
      if (takesPlace(deploy)) noteTurn(deploy.workspaceId)
      start(deploy)
    }
  }

  function noteTurn(workspaceId: string): void {
    turns += 1
    lastTurns.set(workspaceId, turns)
  }

  function start(deploy: StoredDeploy): void {
    const abort = new AbortController()
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    const done = runDeploy(context, deploy.id, { signal: AbortSignal.any([signal, abort.signal]), ended })
      .catch(async (error) => {
        if (signal.aborted) return
        context.log.error('deploy stopped', { deployId: deploy.id, ...describeError(error) })
        await pause(context, RETRY_MS, AbortSignal.any([signal, abort.signal])).catch(() => undefined)
      })
      .finally(() => {
        running.delete(deploy.id)
        poke()
      })
    running.set(deploy.id, { deploy, abort, ended: resolve, done })
  }

  return {
    poke,
    interrupt: (deployId, because) => running.get(deployId)?.abort.abort(because),
    deployEnded: (deployId) => running.get(deployId)?.ended(),
    whenSettled: async (serviceId) => {
      await Promise.all([...running.values()].filter(({ deploy }) => deploy.serviceId === serviceId).map(({ done }) => done))
    },
    settled: async () => void (await Promise.all([...running.values()].map(({ done }) => done))),
  }
}
