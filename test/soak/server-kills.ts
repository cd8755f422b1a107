import { isDeployRunning } from '../../shared/deploy.ts'
import { type Random, randomFrom } from '../server/ingress/random.ts'
import { deploysOf, foldersOf, settledInstances } from '../support/compiled-steps.ts'
import { commandLine, processesOf } from '../support/leftovers.ts'
import { until } from '../support/until.ts'
import { describeFailure, type Outcome, progress, secondsSince } from './outcome.ts'
import { startWorld, type World } from './world.ts'

export interface ServerKillsOptions {
  kills: number
  ratePerSecond: number
  seed: number
  instances: number
}

const LONGEST_LIFE_MS = 2_500
const LONGEST_AWAY_MS = 400
const LONGEST_BOOT_MS = 400
/** One in so many dies before it is ready. */
const BOOT_KILL_EVERY = 5
const SETTLE_MS = 120_000
const TIDY_MS = 60_000

/** `kill -9` of `cpd serve` at random moments, while it deploys and restarts: no request may fail, and every deploy comes to its end. */
export async function serverKills({ kills, ratePerSecond, seed, instances }: ServerKillsOptions): Promise<Outcome> {
  const world = await startWorld({ ratePerSecond, seed, instances })
  const stopping = new AbortController()
  const random = randomFrom(seed)
  const churning = churn(world, randomFrom(seed + 1), stopping.signal)
  // The end alone is awaited.
  churning.catch(() => undefined)
  let truth: string[]
  let asked: Churned
  try {
    for (let kill = 1; kill <= kills; kill++) {
      const moment = kill % BOOT_KILL_EVERY === 0 ? await dieStarting(world, random) : await dieServing(world, random)
      await world.cpd.start()
      progress(`kill ${kill}/${kills} ${moment}; ${world.load.record.count()} requests, ${world.load.record.failures.length} failed`)
    }
    stopping.abort()
    asked = await churning
    truth = await contradictionsOfTruth(world, instances)
  } finally {
    stopping.abort()
    progress(await world.load.stop())
    await churning.catch(() => undefined)
    await world.close()
  }
  const { record, startedAt } = world.load
  const summary = `${instances} instances, ${kills} kills of cpd serve during ${asked.deploys} deploys and ${asked.restarts} restarts in ${secondsSince(startedAt)} s at ${ratePerSecond}/s`
  return {
    summary: `${summary}: ${record.count()} requests and echoes, ${record.failures.length} failed`,
    failures: [...truth, ...record.failures.map((failure) => describeFailure(failure, startedAt))],
  }
}

async function dieServing({ cpd }: World, random: Random): Promise<string> {
  const afterMs = random(LONGEST_LIFE_MS)
  await Bun.sleep(afterMs)
  await cpd.kill9()
  await Bun.sleep(random(LONGEST_AWAY_MS))
  return `${afterMs} ms after it was ready`
}

async function dieStarting({ cpd }: World, random: Random): Promise<string> {
  await cpd.kill9()
  const starting = cpd.start().catch(() => undefined)
  const afterMs = random(LONGEST_BOOT_MS)
  await Bun.sleep(afterMs)
  await cpd.kill9()
  await starting
  return `${afterMs} ms after its start`
}

interface Churned {
  deploys: number
  restarts: number
}

/** Deploys and restarts without end; that the server is away meanwhile is no failure. */
async function churn({ cpd, app, serviceId, nextVersion }: World, random: Random, signal: AbortSignal): Promise<Churned> {
  const done: Churned = { deploys: 0, restarts: 0 }
  while (!signal.aborted) {
    const isRestart = random(4) === 0
    if (!isRestart) nextVersion()
    const args = isRestart ? ['services', 'restart', 'traffic'] : ['deploy', app.dir, '--detach', '--guard']
    const { exitCode } = await cpd.cpctl(args)
    if (exitCode === 0) done[isRestart ? 'restarts' : 'deploys']++
    await Bun.sleep(random(300))
    const isThrough = async () => (await deploysOf(cpd, serviceId)).every(({ status }) => !isDeployRunning(status))
    // Now and then the next one comes while the last is still under way.
    if (random(3) > 0) await until('the deploy is through', () => isThrough().catch(() => false), SETTLE_MS)
  }
  return done
}

/** One more deploy becomes live, every one before has ended well, and nothing is left over. */
async function contradictionsOfTruth(world: World, instances: number): Promise<string[]> {
  const { cpd, serviceId } = world
  await world.deployNext([])
  await settledInstances(cpd, serviceId, instances)
  const statuses = (await deploysOf(cpd, serviceId)).map(({ status }) => status)
  const kept = ({ output }: ReturnType<typeof foldersOf>) => output.filter((name) => !name.endsWith('.build.log'))
  const isTidy = () => foldersOf(cpd, serviceId).builds.length === 0 && kept(foldersOf(cpd, serviceId)).length === instances
  const tidied = await until('what the deploys left is gone', isTidy, TIDY_MS).then(
    () => [],
    (error: Error) => [`${error.message}: ${JSON.stringify({ ...foldersOf(cpd, serviceId), releases: undefined })}`],
  )
  const apps = processesOf(cpd.paths.data)
    .map(commandLine)
    .filter((line) => /^\S*bun run server\.ts$/.test(line))
  return [
    ...tidied,
    ...(apps.length === instances ? [] : [`${apps.length} instances run: ${apps.join(', ')}`]),
    ...[...new Set(statuses)]
      .filter((status) => !['live', 'deactivated', 'canceled'].includes(status))
      .map((status) => `A deploy ended as ${status}`),
  ]
}
