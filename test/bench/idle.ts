import { readFile } from 'node:fs/promises'
import type { RunningServer } from './running-server.ts'
import { median, pathOf, startServer } from './running-server.ts'

const SERVICES = 1000
const STARTS = 5
const GOAL_READY_MS = 300
const GOAL_MEMORY_MB = 120
const SETTLE_MS = 3000

/** Start to ready and idle memory of control plane and ingress with 1,000 services, against a bare `bun` that serves one route. */
export async function run(): Promise<void> {
  let server = await startServer()
  try {
    await createServices(server)
    const starts: number[] = []
    for (let round = 0; round < STARTS; round++) {
      server = await server.restart()
      starts.push(server.readyMs)
    }
    await Bun.sleep(SETTLE_MS)
    const memoryMb = (await pssMb(server.pid)) + (await pssMb(await ingressPid(server)))
    const bare = await bareServer()
    const readyMs = median(starts)
    console.log(
      `start to ready with ${SERVICES} services: ${readyMs.toFixed(0)} ms (goal ${GOAL_READY_MS}: ${readyMs < GOAL_READY_MS ? 'met' : 'MISSED'}), ` +
        `ratio to a bare Bun.serve ${(readyMs / bare.readyMs).toFixed(1)}`,
    )
    console.log(
      `idle memory of control plane and ingress (PSS): ${memoryMb.toFixed(0)} MB (goal ${GOAL_MEMORY_MB}: ${memoryMb < GOAL_MEMORY_MB ? 'met' : 'MISSED'}), ` +
        `ratio to a bare Bun.serve ${(memoryMb / bare.memoryMb).toFixed(1)}`,
    )
  } finally {
    await server.stop()
  }
}

async function createServices(server: RunningServer): Promise<void> {
  for (let index = 0; index < SERVICES; index++) {
    const body = JSON.stringify({ type: 'web_service', name: `service ${index}`, envVars: [{ key: 'KEY', value: 'value' }] })
    await server.call(pathOf('createService'), { method: 'POST', body })
  }
}

async function ingressPid(server: RunningServer): Promise<number> {
  const pids = new TextDecoder().decode(Bun.spawnSync(['pgrep', '-f', `ingress --listen 127.0.0.1:${server.ingressPort} `]).stdout)
  return Number(pids.trim().split('\n')[0])
}

/** The process's share of memory: pages that several processes map are divided among them. */
async function pssMb(pid: number): Promise<number> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8')
  return Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1]) / 1024
}

async function bareServer(): Promise<{ readyMs: number; memoryMb: number }> {
  const begun = performance.now()
  const child = Bun.spawn([process.execPath, '-e', "Bun.serve({ port: 0, fetch: () => new Response('ok') }); console.log('ready')"], {
    stdout: 'pipe',
  })
  for await (const _ of child.stdout) break
  const readyMs = performance.now() - begun
  await Bun.sleep(SETTLE_MS)
  const memoryMb = await pssMb(child.pid)
  child.kill()
  await child.exited
  return { readyMs, memoryMb }
}

if (import.meta.main) await run()
