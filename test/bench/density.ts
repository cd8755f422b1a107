import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Deploy, Uploaded } from '../../shared/deploy.ts'
import type { Service } from '../../shared/service.ts'
import { tarGz } from '../support/archives.ts'
import { freePorts } from '../support/free-ports.ts'
import { commandLine, processesOf } from '../support/leftovers.ts'
import { median, pathOf, type RunningServer, startServer } from './running-server.ts'

const INSTANCES = Number(process.env.DENSITY_INSTANCES ?? 200)
const COMPARED = 5
const RESTARTS = 3
const SETTLE_MS = 10_000
const IDLE_MS = 30_000
const TICKS_PER_SECOND = 100
const MB = 1024

const APP = `Bun.serve({ hostname: '127.0.0.1', port: Number(process.env.PORT), fetch: () => new Response('up') })`

/** Two hundred services of a small app on one machine: what each costs, and what they do to the control plane. */
export async function run(): Promise<void> {
  const archive = new Blob([
    new Uint8Array(
      await tarGz([
        { name: 'server.js', content: APP },
        { name: 'package.json', content: '{}' },
      ]),
    ),
  ])
  let server = await startServer()
  try {
    const deploys: number[] = []
    for (let index = 0; index < INSTANCES + COMPARED; index++) deploys.push(await deployOne(server, index, archive))
    const [first, last] = [median(deploys.slice(0, COMPARED)), median(deploys.slice(-COMPARED))]
    console.log(
      `deploy, of the first ${COMPARED} and after ${INSTANCES}: ${first.toFixed(0)} and ${last.toFixed(0)} ms, ratio ${(last / first).toFixed(2)}`,
    )
    await Bun.sleep(SETTLE_MS)
    const ours = await memoryOfInstances(server)
    const bare = await memoryOfBare(INSTANCES + COMPARED)
    const count = INSTANCES + COMPARED
    console.log(
      `memory an instance (PSS): ${perOne(ours.apps, count)} MB and ${perOne(ours.monitors, count)} MB of its monitor; bare ${perOne(bare, count)} MB, ratio ${((ours.apps + ours.monitors) / bare).toFixed(2)}`,
    )
    console.log(`memory of the control plane and the ingress: ${(ours.control / MB).toFixed(0)} MB`)
    await reportIdle(server)
    const starts: number[] = []
    for (let round = 0; round < RESTARTS; round++) {
      server = await server.restart()
      starts.push(server.readyMs)
    }
    console.log(
      `start of cpd to ready with ${count} instances to adopt: ${median(starts).toFixed(0)} ms (of ${starts.map((ms) => ms.toFixed(0)).join(', ')})`,
    )
  } finally {
    await server.stop()
  }
}

async function deployOne(server: RunningServer, index: number, archive: Blob): Promise<number> {
  const { service } = await server.call<{ service: Service }>(pathOf('createService'), {
    method: 'POST',
    body: JSON.stringify({
      type: 'web_service',
      name: `small-${index}`,
      serviceDetails: { cutoverGuard: { enabled: false }, envSpecificDetails: { startCommand: 'exec bun server.js' } },
    }),
  })
  const begun = performance.now()
  const upload = pathOf('uploadSource', { serviceId: service.id })
  const { deployId = '' } = await server.call<Uploaded>(upload, { method: 'POST', body: archive, type: 'application/gzip' })
  for (;;) {
    const { status, reason } = await server.call<Deploy>(pathOf('getDeploy', { serviceId: service.id, deployId }))
    if (status === 'live') return performance.now() - begun
    if (status.endsWith('failed')) throw new Error(`${status}: ${reason}`)
    await Bun.sleep(2)
  }
}

interface Memory {
  apps: number
  /** Processes of ours beside each app. */
  monitors: number
  control: number
}

async function memoryOfInstances(server: RunningServer): Promise<Memory> {
  const memory = { apps: 0, monitors: 0, control: 0 }
  for (const pid of processesOf(server.data)) {
    const part = partOf(commandLine(pid))
    memory[part] += await pssKb(pid)
  }
  return memory
}

function partOf(command: string): keyof Memory {
  if (/ (serve|ingress) /.test(command)) return 'control'
  return command.includes('monitor.sh') ? 'monitors' : 'apps'
}

/** Copies of one program share memory, so the peer is as many started by hand. */
async function memoryOfBare(count: number): Promise<number> {
  const dir = await mkdtemp(join(tmpdir(), 'cpd-bench-bare-'))
  await writeFile(join(dir, 'server.js'), APP)
  const children = freePorts(count).map((port) =>
    Bun.spawn([join(process.cwd(), 'dist/cpd'), 'server.js'], {
      cwd: dir,
      env: { PORT: String(port), BUN_BE_BUN: '1' },
      stdout: 'ignore',
      stderr: 'ignore',
    }),
  )
  try {
    await Bun.sleep(SETTLE_MS)
    const shares = await Promise.all(children.map(({ pid }) => pssKb(pid)))
    return shares.reduce((sum, share) => sum + share, 0)
  } finally {
    for (const child of children) child.kill('SIGKILL')
    await Promise.all(children.map(({ exited }) => exited))
    await rm(dir, { recursive: true, force: true })
  }
}

async function reportIdle(server: RunningServer): Promise<void> {
  const pids = processesOf(server.data).filter((pid) => partOf(commandLine(pid)) === 'control')
  const before = await Promise.all(pids.map(cpuSeconds))
  await Bun.sleep(IDLE_MS)
  const after = await Promise.all(pids.map(cpuSeconds))
  const shares = after.map((seconds, index) => (((seconds - (before[index] ?? 0)) * 100_000) / IDLE_MS).toFixed(2))
  console.log(
    `processor time while idle for ${IDLE_MS / 1000} s, of a core: ${pids.map((pid, index) => `${shares[index]} % ${commandLine(pid).split(' ')[1]}`).join(', ')}`,
  )
}

/** Its own and that of the tools it has started. */
async function cpuSeconds(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_PER_SECOND
}

/** The process's share of memory: pages that several processes map are divided among them. */
async function pssKb(pid: number): Promise<number> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '')
  return Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0)
}

const perOne = (kb: number, count: number): string => (kb / count / MB).toFixed(1)

if (import.meta.main) await run()
