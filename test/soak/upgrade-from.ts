import { runProcess, spawnProcess } from '../../server/platform/process/spawn.ts'
import type { Job } from '../../shared/job.ts'
import { type AppFolder, copyApp } from '../support/app-folder.ts'
import type { Compiled } from '../support/compiled.ts'
import { deployFolder, instancesOf, serviceNamed } from '../support/compiled-steps.ts'
import { copyExecutable } from '../support/copy-executable.ts'
import { until } from '../support/until.ts'
import { makeUpgradable, type Upgradable } from '../support/upgradable.ts'
import { describeFailure, type Outcome, progress, secondsSince } from './outcome.ts'
import { startWorld, type World } from './world.ts'

export interface UpgradeFromOptions {
  ratePerSecond: number
  seed: number
  /** The older executable. */
  from: string
}

const UPGRADE_TIMEOUT_MS = 180_000
const REST_REQUESTS = 1_000
/** The job goes on through all upgrades and counts in tenths of a second. */
const COUNTED = 1200
const counting = `i=0; while [ $i -lt ${COUNTED} ]; do i=$((i+1)); echo $i; sleep 0.1; done`

/** Answers with what its first process on the disk wrote there. */
const keeping = `
  const { existsSync, readFileSync, writeFileSync } = require('node:fs')
  const file = '/var/data/first'
  if (existsSync('/var/data') && !existsSync(file)) writeFileSync(file, String(process.hrtime.bigint()))
  require('node:http').createServer((_request, response) => response.end(existsSync(file) ? readFileSync(file) : '')).listen(Number(process.env.PORT), '127.0.0.1')
  process.on('SIGTERM', () => process.exit(0))`

/** What an upgrade must leave as it is. */
interface Belongings {
  instances: string[]
  visits: string
  keys: string[]
  jobs: string[]
}

/**
 * Upgrades an older executable to the one of this checkout with everything alive: an app under load, one with a disk, a job on its way, a
 * cron job, a key, the audit chain. First to a new version that migrates the database and is no good, which has to go back to the old one
 * with its data; then to a good one.
 */
export async function upgradeFrom({ ratePerSecond, seed, from }: UpgradeFromOptions): Promise<Outcome> {
  const versions = await makeUpgradable()
  await copyExecutable(from, versions.installed)
  try {
    const world = await startWorld({ ratePerSecond, seed, executables: { cpd: versions.installed, cpctl: versions.cpctl } })
    const keeper = copyApp('counter')
    keeper.write('server.js', keeping)
    const failures: string[] = []
    try {
      const job = await fill(world, keeper)
      const before = await belongingsOf(world)
      versions.breakBy('migrates and is never healthy')
      failures.push(...(await upgrade(world, versions, { file: versions.broken, wanted: 'rolled_back' })))
      failures.push(...differences('going back', before, await belongingsOf(world)))
      await world.load.answered(REST_REQUESTS)
      failures.push(...(await upgrade(world, versions, { file: versions.first, wanted: 'done' })))
      failures.push(...differences('the upgrade', before, await belongingsOf(world)))
      await world.load.answered(REST_REQUESTS)
      failures.push(...(await job()))
      await world.deployNext()
      await deployFolder(world.cpd, keeper.dir, ['--service', 'keeper'])
      progress(await cpctl(world.cpd, 'audit', 'verify'))
    } finally {
      progress(await world.load.stop())
      keeper.remove()
      await world.close()
    }
    const { record, startedAt } = world.load
    return {
      summary: `from an older executable, with a return to it before, in ${secondsSince(startedAt)} s at ${ratePerSecond}/s: ${record.count()} requests and echoes, ${record.failures.length} failed`,
      failures: [...failures, ...record.failures.map((failure) => describeFailure(failure, startedAt))],
    }
  } finally {
    versions.remove()
  }
}

/** Makes what is to be kept. Returns what waits for the end of the job and says what it missed. */
async function fill({ cpd }: World, keeper: AppFolder): Promise<() => Promise<string[]>> {
  await deployFolder(cpd, keeper.dir, ['--service', 'keeper'])
  await cpctl(cpd, 'disks', 'create', 'keeper', 'data:/var/data:1')
  await deployFolder(cpd, keeper.dir, ['--service', 'keeper'])
  await cpctl(cpd, 'keys', 'create', 'kept', '--role', 'viewer')
  const { argv, env } = cpd.cpctlCommand(['run', 'traffic', '--', counting])
  const output: string[] = []
  const child = spawnProcess(argv, { env, stdout: 'pipe', stderr: 'pipe' })
  const read = (async () => {
    const decoder = new TextDecoder()
    for await (const bytes of child.stdout ?? []) output.push(decoder.decode(bytes, { stream: true }))
  })()
  await until('the job counts', () => output.join('').includes('10\n'))
  return async () => {
    await read
    const { exitCode } = await child.exited
    const lines = output.join('').trim().split('\n')
    const missed = Array.from({ length: COUNTED }, (_, index) => String(index + 1)).filter((line, index) => lines[index] !== line)
    return [
      ...(exitCode === 0 ? [] : [`The job ended with ${exitCode}`]),
      ...(missed.length === 0 ? [] : [`cpctl run missed ${missed.length} lines of the job, first ${missed[0]}`]),
    ]
  }
}

async function belongingsOf({ cpd, serviceId }: World): Promise<Belongings> {
  const { id } = await serviceNamed(cpd, 'keeper')
  const ids = async (service: string) => (await instancesOf(cpd, service)).map((instance) => `${instance.id} ${instance.createdAt}`)
  const { body: jobs } = await cpd.api<{ job: Job }[]>(`/services/${serviceId}/jobs`)
  return {
    instances: [...(await ids(serviceId)), ...(await ids(id))],
    visits: await (await cpd.appFetch('keeper')).text(),
    keys: (JSON.parse(await cpctl(cpd, 'keys', 'list', '--json')) as { id: string; name: string }[]).map(({ id, name }) => `${id} ${name}`),
    jobs: jobs.map(({ job }) => `${job.id} ${job.status}`),
  }
}

const differences = (what: string, before: Belongings, after: Belongings): string[] =>
  (Object.keys(before) as (keyof Belongings)[])
    .filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
    .map((name) => `After ${what} the ${name} differ: ${JSON.stringify(before[name])} became ${JSON.stringify(after[name])}`)

async function upgrade(
  { cpd }: World,
  versions: Upgradable,
  { file, wanted }: { file: string; wanted: 'done' | 'rolled_back' },
): Promise<string[]> {
  const startedAt = performance.now()
  const { stdout, stderr } = await runProcess(versions.upgradeCommand(file, cpd.paths.data, '--force'), { timeoutMs: UPGRADE_TIMEOUT_MS })
  const status = /"status": *"(\w+)"/.exec(stdout)?.[1]
  progress(`upgrade ended with ${status} after ${Math.round(performance.now() - startedAt)} ms`)
  await until('the API answers', async () => (await fetch(`${cpd.apiUrl}/api/health`).catch(() => undefined))?.ok)
  return status === wanted ? [] : [`An upgrade ended with ${status} in place of ${wanted}: ${stderr}`]
}

async function cpctl(cpd: Compiled, ...args: string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await cpd.cpctl(args)
  if (exitCode !== 0) throw new Error(`cpctl ${args.join(' ')} ended with ${exitCode}: ${stderr}`)
  return stdout
}
