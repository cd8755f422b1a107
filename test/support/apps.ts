import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Deploy } from '../../shared/deploy.ts'
import { type TarEntry, tarGz } from './archives.ts'
import { call, type Reply } from './client.ts'
import type { TestServer } from './server.ts'
import { until } from './until.ts'

const apps = join(import.meta.dirname, '../fixtures/apps')

/** A sample app as a tar.gz, with files changed or added. */
export async function packApp(name: string, changes: Record<string, string> = {}): Promise<Uint8Array<ArrayBuffer>> {
  const root = join(apps, name)
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((path) => statSync(join(root, path)).isFile())
  const contents = new Map<string, string | Uint8Array>(files.map((path) => [path, readFileSync(join(root, path))]))
  for (const [path, content] of Object.entries(changes)) contents.set(path, content)
  const entries: TarEntry[] = [...contents].map(([path, content]) => ({ name: path, content }))
  return new Uint8Array(await tarGz(entries))
}

type Caller = Pick<TestServer, 'url' | 'adminToken'>

/** A release that is watched keeps the instances of the one before, which only the tests of that wait for. */
const unguarded = { cutoverGuard: { enabled: false } }

/** Creates a service, without a guard unless it is asked for, and gives its id. */
export async function createService(
  server: Caller,
  { serviceDetails, ...body }: Record<string, unknown> & { serviceDetails?: Record<string, unknown> },
  token = server.adminToken,
): Promise<string> {
  const json = { type: 'web_service', ...body, serviceDetails: { ...unguarded, ...serviceDetails } }
  const reply = await call<{ service: { id: string } }>(`${server.url}/v1/services`, { json, token })
  if (reply.status !== 201) throw new Error(`No service: ${JSON.stringify(reply.body)}`)
  return reply.body.service.id
}

export const upload = <T = { source: { id: string }; deployId: string }>(
  server: Caller,
  serviceId: string,
  archive: Uint8Array<ArrayBuffer>,
  { query = '', token = server.adminToken, type = 'application/gzip' } = {},
): Promise<Reply<T>> =>
  call<T>(`${server.url}/v1/services/${serviceId}/source/upload${query}`, { raw: archive, token, headers: { 'content-type': type } })

const DEPLOY_DEADLINE_MS = 60_000

/** The deploy once it has ended, one way or the other. */
export const deployEnd = (server: Caller, serviceId: string, deployId: string): Promise<Deploy> =>
  until(
    `deploy ${deployId} has ended`,
    async () => {
      const { body } = await call<Deploy>(`${server.url}/v1/services/${serviceId}/deploys/${deployId}`, { token: server.adminToken })
      return body.finishedAt !== undefined && body
    },
    DEPLOY_DEADLINE_MS,
  )

/** Uploads a sample app and waits until it is live. */
export async function deployApp(
  server: Caller,
  serviceId: string,
  archive: Uint8Array<ArrayBuffer>,
): Promise<{ deploy: Deploy; sourceId: string }> {
  const { status, body } = await upload(server, serviceId, archive)
  if (status !== 201) throw new Error(`Not uploaded: ${JSON.stringify(body)}`)
  const deploy = await deployEnd(server, serviceId, body.deployId)
  if (deploy.status !== 'live') throw new Error(`Not live but ${deploy.status}: ${deploy.reason}`)
  return { deploy, sourceId: body.source.id }
}
