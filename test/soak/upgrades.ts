import { createIngressClient } from '../../server/ingress/control/client.ts'
import { runProcess } from '../../server/platform/process/spawn.ts'
import { until } from '../support/until.ts'
import { BROKEN, FIRST, makeUpgradable, SECOND, type Upgradable } from '../support/upgradable.ts'
import { describeFailure, type Outcome, progress, secondsSince } from './outcome.ts'
import { startWorld, type World } from './world.ts'

export interface UpgradesOptions {
  ratePerSecond: number
  seed: number
}

interface Step {
  file: keyof Pick<Upgradable, 'first' | 'second' | 'broken'>
  to: string
  runsThen: string
}

const steps: Step[] = [
  { file: 'second', to: SECOND, runsThen: SECOND },
  { file: 'first', to: FIRST, runsThen: FIRST },
  { file: 'broken', to: BROKEN, runsThen: FIRST },
  { file: 'second', to: SECOND, runsThen: SECOND },
  { file: 'first', to: FIRST, runsThen: FIRST },
]
const UPGRADE_TIMEOUT_MS = 180_000
/** About what a client does between two upgrades: requests that are long enough to see all of the ingress before go. */
const REST_REQUESTS = 1_000

/** Five `cpd upgrade` under load, one of them to a broken executable: no request may fail, and the broken one makes way by itself. */
export async function upgrades({ ratePerSecond, seed }: UpgradesOptions): Promise<Outcome> {
  const versions = await makeUpgradable()
  const failures: string[] = []
  try {
    const world = await startWorld({ ratePerSecond, seed, executables: { cpd: versions.installed, cpctl: versions.cpctl } })
    try {
      for (const step of steps) {
        failures.push(...(await upgrade(world, versions, step)))
        await world.load.answered(REST_REQUESTS)
        progress(`${world.load.record.count()} requests, ${world.load.record.failures.length} failed`)
      }
      // A deploy under the version that runs now replaces what another one has started.
      await world.deployNext()
    } finally {
      progress(await world.load.stop())
      await world.close()
    }
    const { record, startedAt } = world.load
    return {
      summary: `${steps.length} upgrades, one to a broken executable, in ${secondsSince(startedAt)} s at ${ratePerSecond}/s: ${record.count()} requests and echoes, ${record.failures.length} failed`,
      failures: [...failures, ...record.failures.map((failure) => describeFailure(failure, startedAt))],
    }
  } finally {
    versions.remove()
  }
}

/** What was not as wanted. */
async function upgrade({ cpd }: World, versions: Upgradable, { file, to, runsThen }: Step): Promise<string[]> {
  const from = performance.now()
  const command = versions.upgradeCommand(versions[file], cpd.paths.data, '--force')
  const { stdout, stderr, exitCode } = await runProcess(command, { timeoutMs: UPGRADE_TIMEOUT_MS })
  progress(`upgrade to ${to} took ${Math.round(performance.now() - from)} ms and ended with ${exitCode}`)
  const wanted = to === runsThen ? { exitCode: 0, status: 'done' } : { exitCode: 1, status: 'rolled_back' }
  const status = /"status": *"(\w+)"/.exec(stdout)?.[1]
  const isAsWanted = exitCode === wanted.exitCode && status === wanted.status
  const runs = await until(`${runsThen} runs`, async () => (await running(cpd)).every((version) => version === runsThen)).then(
    () => [],
    (error: Error) => [error.message],
  )
  return [...(isAsWanted ? [] : [`The upgrade to ${to} ended with ${exitCode}, ${status}: ${stderr}`]), ...runs]
}

/** The versions of the API and of the ingress; none while they do not answer. */
async function running({ apiUrl, paths }: World['cpd']): Promise<string[]> {
  try {
    const health = (await (await fetch(`${apiUrl}/api/health`)).json()) as { version: string }
    return [health.version, (await createIngressClient(paths.ingressSocket).status()).version]
  } catch {
    return ['none']
  }
}
