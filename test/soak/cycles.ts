import { readdirSync, rmSync } from 'node:fs'
import { createProcessEngine } from '../../server/engines/process/engine.ts'
import { pathsOf } from '../../server/platform/paths.ts'
import { makeWorld } from '../engines/process/support/world.ts'
import { randomFrom } from '../server/ingress/random.ts'
import { copyApp } from '../support/app-folder.ts'
import { startCompiled } from '../support/compiled.ts'
import { cpctl, deployFolder } from '../support/compiled-steps.ts'
import { labelOf } from '../support/leftovers.ts'
import { difference, type Marks, machineState } from '../support/machine-state.ts'
import { until } from '../support/until.ts'
import { type Outcome, progress, secondsSince } from './outcome.ts'

export interface CyclesOptions {
  cycles: number
  /** Whole services run on the compiled executable. */
  services: number
  seed: number
}

/** What makes itself a daemon in every way, forks and ignores what can be ignored; what ends well; what ends by itself; what forks on. */
const COMMANDS = [
  `trap '' TERM INT HUP QUIT; setsid sleep 7777 & (setsid setsid sleep 7777 >/dev/null 2>&1 &); (sleep 7777 & sleep 7777 &) & echo up; while :; do sleep 7777; done`,
  `trap 'exit 0' TERM; echo up; while :; do sleep 0.05; done`,
  `echo up; (sleep 7777 &); exit 3`,
  `echo up; for n in 1 2 3 4 5 6 7 8; do (while :; do sleep 0.02; done) & done; wait`,
]
const LONGEST_LIFE_MS = 60
const GRACE_MS = 100
const REPORT_EVERY = 100

/** Starts and stops instances and whole services again and again: afterwards the machine is as it was. */
export async function cycles(options: CyclesOptions): Promise<Outcome> {
  const startedAt = performance.now()
  const failures = [...(await instanceCycles(options)), ...(options.services > 0 ? await serviceCycles(options) : [])]
  const counts = `${options.cycles} cycles of instances and ${options.services} of services`
  return { summary: `${counts} in ${secondsSince(startedAt)} s, ${failures.length} differences`, failures }
}

async function instanceCycles({ cycles: count, seed }: CyclesOptions): Promise<string[]> {
  const world = makeWorld()
  const label = `cpd-cycles-${process.pid}`
  const marks = { dir: world.dir, label, stateDir: world.stateDir }
  const untouched = await machineState(marks)
  const engine = await createProcessEngine({ stateDir: world.stateDir, label })
  const random = randomFrom(seed)
  async function cycle(index: number): Promise<void> {
    const spec = world.instance(COMMANDS[index % COMMANDS.length] ?? '')
    const service = { ...spec, sandbox: { ...spec.sandbox, networkId: `net-${index % 3}` } }
    await engine.start(service)
    await Bun.sleep(random(LONGEST_LIFE_MS))
    await engine.stop(service.instanceId, { graceMs: GRACE_MS })
    await engine.remove(service.instanceId)
    rmSync(spec.outputPath, { force: true })
  }
  for (let index = 0; index < COMMANDS.length * 3; index++) await cycle(index)
  const before = await settledState(marks)
  for (let index = 0; index < count; index++) {
    await cycle(index)
    if ((index + 1) % REPORT_EVERY === 0) progress(`${index + 1} of ${count} instances`)
  }
  const during = difference(before, await settledState(marks))
  await engine.close()
  const left = difference(untouched, await settledState(marks)).filter((line) => !isFile.test(line))
  world.dispose()
  return [...during.map((line) => `while the engine is open, ${line}`), ...left.map((line) => `after it was closed, ${line}`)]
}

/** Records of nothing and folders of services, which the caller of an engine keeps. */
const isFile = /^(more|less): file /

const SETTLE_TIMEOUT_MS = 30_000
const SETTLE_INTERVAL_MS = 500

/** Once it no longer changes: the kernel takes namespaces and groups back some moments after their last process. */
async function settledState(marks: Marks): Promise<Set<string>> {
  let state = await machineState(marks)
  for (const end = performance.now() + SETTLE_TIMEOUT_MS; performance.now() < end; ) {
    await Bun.sleep(SETTLE_INTERVAL_MS)
    const next = await machineState(marks)
    if (difference(state, next).length === 0) break
    state = next
  }
  return state
}

async function serviceCycles({ services, seed }: CyclesOptions): Promise<string[]> {
  const cpd = await startCompiled()
  const app = copyApp('lingers')
  const dataDir = cpd.paths.data
  const marks = { dir: dataDir, label: labelOf(dataDir), stateDir: pathsOf(dataDir).engineState }
  const random = randomFrom(seed + 1)
  async function cycle(index: number): Promise<void> {
    app.setVersion(String(index))
    await deployFolder(cpd, app.dir, ['--type', 'background_worker', '--shutdown-delay', '1'])
    if (random(2) === 1) await cpctl(cpd, 'services', 'restart', 'lingers')
    await cpctl(cpd, 'services', 'delete', 'lingers', '--yes')
    await until('the folders of the service are gone', () => readdirSync(cpd.paths.services).length === 0)
  }
  try {
    await cycle(0)
    const before = await settledState(marks)
    for (let index = 1; index <= services; index++) {
      await cycle(index)
      if (index % 10 === 0) progress(`${index} of ${services} services`)
    }
    return difference(before, await settledState(marks)).map((line) => `after the services were deleted, ${line}`)
  } finally {
    app.remove()
    // Asserts as well that nothing is left of the whole installation.
    await cpd.stop()
  }
}
