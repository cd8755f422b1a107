import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { InstanceState } from '../../../../server/engines/port/port.ts'
import type { Limits } from '../../../../server/engines/port/workload.ts'
import type { ProcessEngine, ProcessSpec, ProcessTerminalSpec, Sandbox } from '../../../../server/engines/process/spec.ts'

/** A data directory with services in it, laid out and owned as the platform does it. */
export interface World {
  dir: string
  stateDir: string
  /** Makes the folders of a service, with a user of its own. */
  service(ownerId: string): Sandbox
  instance(command: string, changes?: Partial<ProcessSpec>): ProcessSpec
  /** One that runs once. */
  task(command: string, changes?: Partial<ProcessSpec>): ProcessSpec
  terminal(command: string): Omit<ProcessTerminalSpec, 'onOutput'>
  /** What the workloads of a spec have written. */
  output(spec: { outputPath: string }): string
  dispose(): void
}

const limits: Limits = { cpu: 1, memoryBytes: 64 * 1024 * 1024, pids: 40 }
const isRoot = process.getuid?.() === 0
const FIRST_UID = 61_000

/** A folder for the world: below /tmp by default, which is the hard case, as every workload has another /tmp. */
export function makeWorld(parent = tmpdir()): World {
  const dir = mkdtempSync(join(parent, 'engine-'))
  chmodSync(dir, 0o711)
  const stateDir = join(dir, 'run')
  mkdirSync(stateDir, { mode: 0o700 })
  const sandboxes = new Map<string, Sandbox>()
  let count = 0
  const service = (ownerId: string) => {
    const known = sandboxes.get(ownerId)
    if (known !== undefined) return known
    const made = makeService(join(dir, ownerId), ownerId, FIRST_UID + sandboxes.size)
    sandboxes.set(ownerId, made)
    return made
  }
  const workload = (sandbox: Sandbox) => ({
    cwd: join(dir, sandbox.ownerId, 'release'),
    env: { PATH: '/usr/local/bin:/usr/bin:/bin' },
    limits,
    sandbox,
  })
  const instance = (command: string, changes: Partial<ProcessSpec> = {}): ProcessSpec => {
    const sandbox = changes.sandbox ?? service('srv-one')
    const instanceId = changes.instanceId ?? `${sandbox.ownerId}-${++count}`
    const outputPath = join(dir, `${instanceId}.out`)
    return { instanceId, deployId: 'dep-one', port: 20_000, command, outputPath, ...workload(sandbox), ...changes }
  }
  return {
    dir,
    stateDir,
    service,
    instance,
    task: (command, changes = {}) => instance(command, { instanceId: `dep-${++count}.build`, port: 0, runs: 'once', ...changes }),
    terminal: (command) => ({ ...workload(service('srv-one')), command, terminalId: `shl-${++count}`, columns: 80, rows: 24 }),
    output: ({ outputPath }) => (existsSync(outputPath) ? readFileSync(outputPath, 'utf8') : ''),
    dispose: () => rmSync(dir, { recursive: true, force: true }),
  }
}

function makeService(dir: string, ownerId: string, id: number): Sandbox {
  const ids = isRoot ? { uid: id, gid: id } : { uid: process.getuid?.() ?? id, gid: process.getgid?.() ?? id }
  mkdirSync(dir, { mode: 0o710 })
  if (isRoot) chownSync(dir, 0, ids.gid)
  for (const name of ['release', 'home', 'tmp']) {
    mkdirSync(join(dir, name), { mode: 0o750 })
    chownSync(join(dir, name), ids.uid, ids.gid)
  }
  return { ownerId, ...ids, homeDir: join(dir, 'home'), tmpDir: join(dir, 'tmp'), readOnlyBinds: [] }
}

/** Waits for something to become true; throws what it waited for when it does not. */
export async function until(what: string, check: () => boolean | Promise<boolean>, timeoutMs = 15_000): Promise<void> {
  const deadline = Date.now() + timeoutMs
  while (!(await check())) {
    if (Date.now() > deadline) throw new Error(`waited in vain until ${what}`)
    await Bun.sleep(10)
  }
}

/** The end of an instance, once the engine knows it. */
export async function endOf(
  engine: ProcessEngine,
  instanceId: string,
  timeoutMs = 20_000,
): Promise<Extract<InstanceState, { status: 'exited' }>> {
  for (const deadline = Date.now() + timeoutMs; Date.now() < deadline; await Bun.sleep(10)) {
    const state = await engine.inspect(instanceId)
    if (state?.status === 'exited') return state
  }
  throw new Error(`${instanceId} did not end`)
}

/** Runs something to its end and forgets it. Returns how it ended. */
export async function runToEnd(
  engine: ProcessEngine,
  spec: ProcessSpec,
  timeoutMs = 60_000,
): Promise<Extract<InstanceState, { status: 'exited' }>> {
  await engine.start(spec)
  const end = await endOf(engine, spec.instanceId, timeoutMs)
  await engine.remove(spec.instanceId)
  return end
}

/** Pids of the processes that have this text among their arguments. */
export function pidsWith(text: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((name) => commandLine(name).includes(text))
    .map(Number)
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1')
  } catch {
    return ''
  }
}
