import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { runProcess, type SpawnedProcess, spawnProcess } from '../../server/platform/process/spawn.ts'
import { childProgram } from './child-programs.ts'
import { call } from './client.ts'
import { closeInTurn } from './closing.ts'
import { makeDataDir } from './data-dir.ts'
import { type IngressPorts, startTestIngress, type TestIngress } from './ingress.ts'
import { testAdmin, testStaticToken } from './server.ts'
import { until } from './until.ts'

/** A control plane that can be killed and started again on the same data, with an ingress that outlives it. */
export interface ControlPlane {
  dataDir: string
  url: string
  adminToken: string
  ingress: TestIngress
  kill(): Promise<void>
  /** Ends it as an operator would, and gives its exit code. */
  stop(): Promise<number | null>
  start(): Promise<void>
  /** What all of them wrote to their own log. */
  logged(): string
  /** Has it remove all services, where it runs, ends it and removes the data. */
  close(): Promise<void>
}

export interface ControlPlaneOptions {
  /** Puts the data on a disk of its own of this size. Only root can. */
  diskBytes?: number
  /** The ingress serves https as well, at these ports. */
  tls?: IngressPorts
  /** How many descriptors the control plane may have. */
  descriptors?: number
}

export async function startControlPlane(
  env: Record<string, string> = {},
  { diskBytes, tls, descriptors }: ControlPlaneOptions = {},
): Promise<ControlPlane> {
  const data = makeDataDir()
  if (diskBytes !== undefined) {
    await runProcess(['mount', '-t', 'tmpfs', '-o', `size=${diskBytes},mode=711`, 'tmpfs', data.dir])
    for (const folder of [data.paths.db, data.paths.run, data.paths.uploads]) mkdirSync(folder, { recursive: true, mode: 0o700 })
  }
  const ingress = await startTestIngress(data.paths, tls === undefined ? {} : { tls })
  // Beside the data, not on its disk.
  const logFile = `${data.dir}.log`
  const settings = {
    CP_DATA_DIR: data.dir,
    CP_LISTEN: '127.0.0.1:0',
    CP_INGRESS_HTTP: ingress.address,
    ...(tls && { CP_INGRESS_HTTPS: ingress.tlsAddress }),
    CP_ADMIN_PASSWORD: testAdmin.password,
    SERVICE_API_TOKEN: testStaticToken,
    CP_RATE_LIMIT: '0',
    CP_DRAIN_SECONDS: '1',
    PATH: '/usr/local/bin:/usr/bin:/bin',
    ...env,
  }
  let child: SpawnedProcess | undefined
  const plane: ControlPlane = {
    dataDir: data.dir,
    url: '',
    adminToken: testStaticToken,
    ingress,
    async start() {
      const script = await childProgram('control-plane-child')
      const limited = descriptors === undefined ? [] : ['prlimit', `--nofile=${descriptors}:${descriptors}`]
      child = spawnProcess([...limited, process.execPath, script], { env: settings, stdout: 'pipe', stderr: { appendTo: logFile } })
      plane.url = await firstLine(child.stdout)
      if (plane.url === '') throw new Error(`The control plane did not start: ${plane.logged()}`)
    },
    async kill() {
      child?.kill('SIGKILL')
      await child?.exited
    },
    async stop() {
      child?.kill('SIGTERM')
      const exit = await child?.exited
      return exit?.exitCode ?? null
    },
    logged: () => readFileSync(logFile, 'utf8'),
    async close() {
      await closeInTurn({
        'removing services': () => removeServices(plane, data.paths.services),
        'stopping the control plane': plane.stop,
        'closing the ingress': () => ingress.close(),
        'unmounting the disk': () => diskBytes !== undefined && runProcess(['umount', '--lazy', data.dir]),
        'removing the data': data.remove,
        'removing its log': () => rmSync(logFile, { force: true }),
      })
    },
  }
  await plane.start()
  return plane
}

const REMOVAL_DEADLINE_MS = 55_000

/** They are out of the list at once; their folders go when nothing of them is left. */
async function removeServices({ url, adminToken }: ControlPlane, folder: string): Promise<void> {
  const all = await call<{ service: { id: string } }[]>(`${url}/v1/services?limit=100`, { token: adminToken }).catch(() => undefined)
  if (all === undefined) return
  for (const { service } of all.body) await call(`${url}/v1/services/${service.id}`, { method: 'DELETE', token: adminToken })
  const databases = await call<{ postgres: { id: string } }[]>(`${url}/v1/postgres?limit=100`, { token: adminToken })
  for (const { postgres } of databases.body) await call(`${url}/v1/postgres/${postgres.id}`, { method: 'DELETE', token: adminToken })
  const isOwned = (name: string) => /^(?:srv|crn|dpg)-/.test(name)
  await until('all services are gone', () => !readdirSync(folder).some(isOwned), REMOVAL_DEADLINE_MS)
}

async function firstLine(output: ReadableStream<Uint8Array> | undefined): Promise<string> {
  for await (const chunk of output ?? []) return new TextDecoder().decode(chunk).trim()
  return ''
}
