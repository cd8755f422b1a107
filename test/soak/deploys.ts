import { randomFrom } from '../server/ingress/random.ts'
import { cpctl } from '../support/compiled-steps.ts'
import { describeFailure, type Outcome, progress, secondsSince } from './outcome.ts'
import { startWorld, type World } from './world.ts'

export interface DeploysOptions {
  deploys: number
  restarts: number
  rollbacks: number
  ratePerSecond: number
  seed: number
  instances: number
}

const LONGEST_PAUSE_REQUESTS = 600

type Step = 'deploy' | 'restart' | 'rollback'

/** Deploys, restarts and rollbacks in a mixed order under load: no request may fail. */
export async function deploys(options: DeploysOptions): Promise<Outcome> {
  const world = await startWorld(options)
  const failures: string[] = []
  const pause = randomFrom(options.seed + 1)
  let step = 0
  const steps = shuffled(options)
  const act: { [K in Step]: () => Promise<unknown> } = {
    deploy: () => world.deployNext(),
    restart: () => world.restart(),
    rollback: () => cpctl(world.cpd, 'rollback', '--service', 'traffic'),
  }
  try {
    for (const what of steps) {
      const failed = await timed(world, `${++step}/${steps.length} ${what}`, act[what])
      if (failed !== undefined) failures.push(failed)
      // Some follow at once, others when the one before has long been drained.
      await world.load.answered(pause(LONGEST_PAUSE_REQUESTS))
    }
  } finally {
    const figures = await world.load.stop()
    progress(figures)
    await world.close()
  }
  const { record, startedAt } = world.load
  const counts = `${options.instances} instances, ${options.deploys} deploys, ${options.restarts} restarts, ${options.rollbacks} rollbacks`
  return {
    summary: `${counts} in ${secondsSince(startedAt)} s at ${options.ratePerSecond}/s: ${record.count()} requests and echoes, ${record.failures.length} failed`,
    failures: [...failures, ...record.failures.map((failure) => describeFailure(failure, startedAt))],
  }
}

async function timed({ load }: World, what: string, act: () => Promise<unknown>): Promise<string | undefined> {
  const from = performance.now()
  const failed = await act().then(
    () => undefined,
    (error: Error) => `${what}: ${error.message}`,
  )
  const at = Math.round(from - load.startedAt)
  progress(
    `${what} at ${at} ms took ${Math.round(performance.now() - from)} ms; ${load.record.count()} requests, ${load.record.failures.length} failed`,
  )
  return failed
}

/** The first is a deploy, so that there is something to go back to. */
function shuffled({ deploys, restarts, rollbacks, seed }: DeploysOptions): Step[] {
  const random = randomFrom(seed)
  const steps: Step[] = [
    ...Array<Step>(Math.max(0, deploys - 1)).fill('deploy'),
    ...Array<Step>(restarts).fill('restart'),
    ...Array<Step>(rollbacks).fill('rollback'),
  ]
  for (let last = steps.length - 1; last > 0; last--) {
    const other = random(last + 1)
    const [a = 'deploy', b = 'deploy'] = [steps[last], steps[other]]
    steps[last] = b
    steps[other] = a
  }
  return ['deploy', ...steps]
}
