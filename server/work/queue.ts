import { setTimeout as sleep } from 'node:timers/promises'
import type { AppError } from '../../shared/error.ts'
import type { Context } from '../context.ts'
import { runDeploy } from '../deploys/pipeline.ts'
import { type StoredDeploy, unfinishedDeploys } from '../deploys/store.ts'
import { describeError } from '../server-log.ts'
import { chooseDeploys } from './choose.ts'

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

export function createDeployQueue(context: Context, signal: AbortSignal): DeployQueue {
  const running = new Map<string, Running>()

  function poke(): void {
    if (signal.aborted) return
    const unfinished = unfinishedDeploys(context.db)
    const chosen = chooseDeploys(unfinished, {
      // As they are now: one that has its release by now takes no place among the builds any more.
      busy: [...running.values()].map(({ deploy }) => unfinished.find(({ id }) => id === deploy.id) ?? deploy),
      maxBuilds: context.config.CP_BUILD_CONCURRENCY,
    })
    for (const deploy of chosen) start(deploy)
  }

  function start(deploy: StoredDeploy): void {
    const abort = new AbortController()
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    const done = runDeploy(context, deploy.id, { signal: AbortSignal.any([signal, abort.signal]), ended })
      .catch(async (error) => {
        if (signal.aborted) return
        context.log.error('deploy stopped', { deployId: deploy.id, ...describeError(error) })
        // A full disk, say: it goes on where it was, but not at once.
        await sleep(RETRY_MS, undefined, { signal: AbortSignal.any([signal, abort.signal]) }).catch(() => undefined)
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
