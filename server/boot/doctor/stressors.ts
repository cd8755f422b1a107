import { readdirSync, readFileSync } from 'node:fs'
import type { Guarantee } from '../../engines/port/port.ts'
import { cpuStressor, type DoctorApp, forkBomb, memoryStressor, STRESSOR_LIMITS } from './apps.ts'
import type { TryResult } from './red-team/attempt.ts'
import type { RunningApp, World } from './sandbox-world.ts'

export interface Stressor {
  id: string
  title: string
  guarantee: string
  app: DoctorApp
  excess(running: RunningApp, elapsedMs: number): Promise<string | undefined>
}

export const stressorsFor = (world: World, cores: number): Stressor[] => [
  {
    id: 'fork-pressure',
    title: 'makes more processes than its plan has',
    guarantee: 'process-limit',
    app: forkBomb,
    excess: async ({ uid }) => {
      const count = processesOfUser(uid)
      return count > STRESSOR_LIMITS.pids ? `${count} processes of ${STRESSOR_LIMITS.pids}` : undefined
    },
  },
  {
    id: 'memory-pressure',
    title: 'uses more memory than its plan has',
    guarantee: 'memory-limit',
    app: memoryStressor,
    excess: async ({ instanceId }) => {
      const usage = await world.engine.usage(instanceId)
      return usage !== undefined && usage.memoryBytes > STRESSOR_LIMITS.memoryBytes
        ? `${usage.memoryBytes} bytes of ${STRESSOR_LIMITS.memoryBytes}`
        : undefined
    },
  },
  {
    id: 'cpu-pressure',
    title: 'uses more processor time than its plan has',
    guarantee: 'cpu-limit',
    app: cpuStressor(cores),
    excess: async ({ instanceId }, elapsedMs) => {
      const usage = await world.engine.usage(instanceId)
      const allowedSeconds = (STRESSOR_LIMITS.cpu * elapsedMs * CPU_TOLERANCE) / 1000 + START_SECONDS
      return usage !== undefined && usage.cpuSeconds > allowedSeconds
        ? `${usage.cpuSeconds.toFixed(2)} s in ${elapsedMs.toFixed(0)} ms`
        : undefined
    },
  },
]

/** The kernel gives quota to each core in slices, which may all be used just before and just after a period. */
const CPU_TOLERANCE = 1.15
const START_SECONDS = 0.2

const WATCH_INTERVAL_MS = 100
const RESTART_PAUSE_MS = 50

export interface RunningStressor {
  stop(): Promise<TryResult>
}

/** Lets a stressor loose; where the kernel ends it, it is started again, as a platform would. */
export function letLoose(world: World, { app, excess, ...told }: Stressor): RunningStressor {
  const succeeded = new Set<string>()
  let isOver = false

  async function runOnce(): Promise<void> {
    const running = await world.start(app)
    let hasEnded = false
    void running.ended.then(() => {
      hasEnded = true
    })
    const startedAt = performance.now()
    while (!isOver && !hasEnded) {
      const seen = await excess(running, performance.now() - startedAt)
      if (seen !== undefined) succeeded.add(seen)
      await Bun.sleep(WATCH_INTERVAL_MS)
    }
    await running.remove()
  }

  const runs = (async () => {
    for (; !isOver; await Bun.sleep(RESTART_PAUSE_MS)) await runOnce()
  })()
  runs.catch(() => {})
  return {
    async stop() {
      isOver = true
      await runs
      return { id: told.id, title: told.title, guarantee: told.guarantee, attempted: 1, succeeded: [...succeeded].slice(0, 3) }
    },
  }
}

export const isBounded = ({ guarantee }: Pick<Stressor, 'guarantee'>, guarantees: readonly Guarantee[]): boolean =>
  guarantees.some(({ id, holds }) => id === guarantee && holds)

/** Every user of a service is its own, so that these are the processes of that service. */
function processesOfUser(uid: number): number {
  const owner = new RegExp(`^Uid:\\s+${uid}\\s`, 'm')
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name) && owner.test(readIfThere(`/proc/${name}/status`))).length
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}
