import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createProcessEngine } from '../../server/engines/process/engine.ts'
import { findFreePort, INSTANCE_PORTS } from '../../server/engines/process/network/free-port.ts'
import { spawnProcess } from '../../server/platform/process/spawn.ts'

const ROUNDS = 31
const APP = `Bun.serve({ port: Number(process.env.PORT), fetch: () => new Response('up') })`
const USER = { uid: 61_500, gid: 61_500 }

/** Start to first 200 of a Bun.serve app through the process engine, against the same app started as a bare process. */
export async function run(): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'bench-'))
  chmodSync(dir, 0o711)
  const paths = layOut(dir)
  const engine = await createProcessEngine({ stateDir: paths.state, label: `cpd-bench-${process.pid}` })
  const bare: number[] = []
  const isolated: number[] = []
  try {
    for (let round = 0; round < ROUNDS; round++) {
      const port = findFreePort(INSTANCE_PORTS, new Set())
      const env = { PORT: String(port), PATH: '/usr/bin:/bin', BUN_BE_BUN: '1' }
      bare.push(await timeBare(port, env, paths))
      isolated.push(await timeIsolated(engine, { port, env, paths, round }))
    }
  } finally {
    await engine.removeOwner('srv-bench')
    await engine.close()
    rmSync(dir, { recursive: true, force: true })
  }
  report(median(bare), median(isolated))
}

type Paths = ReturnType<typeof layOut>

function layOut(dir: string) {
  const paths = {
    state: join(dir, 'run'),
    app: join(dir, 'app'),
    home: join(dir, 'home'),
    tmp: join(dir, 'tmp'),
    output: join(dir, 'output'),
  }
  for (const path of [paths.state, paths.app, paths.home, paths.tmp]) mkdirSync(path, { mode: 0o755 })
  if (process.getuid?.() === 0) for (const path of [paths.app, paths.home, paths.tmp]) chownSync(path, USER.uid, USER.gid)
  writeFileSync(join(paths.app, 'app.ts'), APP)
  return paths
}

async function timeBare(port: number, env: Record<string, string>, paths: Paths): Promise<number> {
  const startedAt = performance.now()
  const child = spawnProcess([process.execPath, 'app.ts'], { cwd: paths.app, env: { ...env, HOME: paths.home } })
  await firstAnswer('127.0.0.1', port)
  const elapsedMs = performance.now() - startedAt
  child.kill('SIGKILL')
  await child.exited
  return elapsedMs
}

interface Round {
  port: number
  env: Record<string, string>
  paths: Paths
  round: number
}

async function timeIsolated(engine: Awaited<ReturnType<typeof createProcessEngine>>, { port, env, paths, round }: Round): Promise<number> {
  const instanceId = `srv-bench-${round}`
  const sandbox = { ownerId: 'srv-bench', ...USER, homeDir: paths.home, tmpDir: paths.tmp, readOnlyBinds: [dirname(process.execPath)] }
  const limits = { cpu: 2, memoryBytes: 512 * 1024 * 1024, pids: 100 }
  const startedAt = performance.now()
  await engine.start({
    instanceId,
    deployId: 'dep-bench',
    command: `${process.execPath} app.ts`,
    cwd: paths.app,
    env: { ...env, HOME: paths.home },
    sandbox,
    limits,
    outputPath: paths.output,
    port,
  })
  const state = await engine.inspect(instanceId)
  await firstAnswer((state?.status === 'running' && state.endpoint?.host) || '127.0.0.1', port)
  const elapsedMs = performance.now() - startedAt
  await engine.stop(instanceId, { graceMs: 1000 })
  await engine.remove(instanceId)
  return elapsedMs
}

async function firstAnswer(address: string, port: number): Promise<void> {
  for (const deadline = Date.now() + 20_000; Date.now() < deadline; await Bun.sleep(1)) {
    try {
      if ((await fetch(`http://${address}:${port}/`)).status === 200) return
    } catch {
      // Not listening yet.
    }
  }
  throw new Error('the app did not answer')
}

function median(values: number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

function report(bareMs: number, isolatedMs: number): void {
  const [ratio, extraMs] = [(isolatedMs / bareMs).toFixed(2), (isolatedMs - bareMs).toFixed(1)]
  console.log(`instance start to first 200 (median of ${ROUNDS}): engine ${isolatedMs.toFixed(1)} ms, bare ${bareMs.toFixed(1)} ms`)
  console.log(`  ratio ${ratio}, difference ${extraMs} ms (goal: under 15 ms)`)
}

if (import.meta.main) await run()
