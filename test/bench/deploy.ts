import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Deploy, Uploaded } from '../../shared/deploy.ts'
import type { Event } from '../../shared/event.ts'
import type { Service } from '../../shared/service.ts'
import { freePorts } from '../support/free-ports.ts'
import { median, pathOf, type RunningServer, startServer } from './running-server.ts'

const ROUNDS = 11
const GOAL_MS = 300
const GOAL_ROLLBACK_MS = 1000

const benchApps = [
  { name: 'static site', folder: 'test/fixtures/apps/static-plain', type: 'static_site' },
  { name: 'app without dependencies', folder: 'test/fixtures/apps/hello-js', type: 'web_service' },
] as const

/** Upload to live beyond the build, and rollback to live, against unpacking and starting the same folder by hand. */
export const run = (): Promise<void> => withEachApp(measure)

export type BenchApp = (typeof benchApps)[number]

/** Measures one app after the other on one server. */
export async function withEachApp(act: (server: RunningServer, app: BenchApp) => Promise<void>): Promise<void> {
  const server = await startServer()
  try {
    for (const app of benchApps) await act(server, app)
  } finally {
    await server.stop()
  }
}

async function measure(server: RunningServer, { name, folder, type }: BenchApp): Promise<void> {
  const archive = await pack(folder)
  const { service } = await server.call<{ service: Service }>(pathOf('createService'), {
    method: 'POST',
    body: JSON.stringify({ type, name: name.replaceAll(' ', '-') }),
  })
  const uploads: number[] = []
  const byHand: number[] = []
  const rollbacks: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    byHand.push(await bare(archive, type))
    uploads.push(await timeUpload(server, service.id, archive))
    if (round > 0) rollbacks.push(await timeRollback(server, service.id))
  }
  const [upload, hand, rollback] = [median(uploads), median(byHand), median(rollbacks)]
  console.log(
    `${name.padEnd(26)} upload to live beyond the build ${upload.toFixed(0)} ms (goal ${GOAL_MS}: ${upload < GOAL_MS ? 'met' : 'MISSED'}), ` +
      `by hand ${hand.toFixed(0)} ms, ratio ${(upload / hand).toFixed(2)}; ` +
      `rollback ${rollback.toFixed(0)} ms (goal ${GOAL_ROLLBACK_MS}: ${rollback < GOAL_ROLLBACK_MS ? 'met' : 'MISSED'})`,
  )
}

async function timeUpload(server: RunningServer, serviceId: string, archive: Blob): Promise<number> {
  const begun = performance.now()
  const path = pathOf('uploadSource', { serviceId })
  const { deployId = '' } = await server.call<Uploaded>(path, { method: 'POST', body: archive, type: 'application/gzip' })
  await untilLive(server, serviceId, deployId)
  return performance.now() - begun - (await buildMs(server, serviceId, deployId))
}

async function timeRollback(server: RunningServer, serviceId: string): Promise<number> {
  const begun = performance.now()
  const { id } = await server.call<Deploy>(pathOf('rollback', { serviceId }), { method: 'POST' })
  await untilLive(server, serviceId, id)
  return performance.now() - begun
}

async function untilLive(server: RunningServer, serviceId: string, deployId: string): Promise<void> {
  for (;;) {
    const { status, reason } = await server.call<Deploy>(pathOf('getDeploy', { serviceId, deployId }))
    if (status === 'live') return
    if (status.endsWith('failed')) throw new Error(`${status}: ${reason}`)
    await Bun.sleep(2)
  }
}

/** What the build itself took, by the service's events. */
export async function buildMs(server: RunningServer, serviceId: string, deployId: string): Promise<number> {
  const events = await server.call<{ event: Event }[]>(`${pathOf('listEvents', { serviceId })}?limit=100`)
  const at = (type: string) =>
    Date.parse(events.find(({ event }) => event.type === type && event.details.deployId === deployId)?.event.timestamp ?? '')
  return at('build_ended') - at('build_started')
}

/** By hand: unpack, and for an app start it and wait for its first answer. */
async function bare(archive: Blob, type: BenchApp['type']): Promise<number> {
  const dir = await mkdtemp(join(tmpdir(), 'cpd-bench-bare-'))
  const begun = performance.now()
  const tar = Bun.spawn(['tar', 'xz', '-C', dir], { stdin: archive })
  await tar.exited
  if (type === 'web_service') await startByHand(dir)
  const elapsedMs = performance.now() - begun
  await rm(dir, { recursive: true, force: true })
  return elapsedMs
}

async function startByHand(dir: string): Promise<void> {
  const [port = 0] = freePorts(1)
  const app = Bun.spawn(['node', 'server.js'], {
    cwd: dir,
    env: { ...process.env, PORT: String(port) },
    stdout: 'ignore',
    stderr: 'ignore',
  })
  while (!(await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined))?.ok) await Bun.sleep(1)
  app.kill('SIGKILL')
  await app.exited
}

async function pack(folder: string): Promise<Blob> {
  const tar = Bun.spawn(['tar', 'cz', '-C', folder, '.'], { stdout: 'pipe' })
  return new Blob([await new Response(tar.stdout).arrayBuffer()])
}

if (import.meta.main) await run()
