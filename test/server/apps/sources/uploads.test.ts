import { readdirSync } from 'node:fs'
import { createConnection } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newId } from '../../../../server/platform/id.ts'
import { servicePathsOf } from '../../../../server/platform/paths.ts'
import { packApp, upload } from '../../../support/apps.ts'
import { tarGz } from '../../../support/archives.ts'
import { type Platform, startPlatform } from '../../../support/platform.ts'
import { makeService, type TestService } from '../../../support/service.ts'
import { until } from '../../../support/until.ts'

let platform: Platform
beforeAll(async () => {
  platform = await startPlatform({ CP_SOURCE_MAX_MB: '4', CP_UPLOAD_MAX_MB: '1' })
})
afterAll(() => platform.close())

const own = (service: TestService) => servicePathsOf(platform.context.paths, service.id)
const uploadsLeft = () => readdirSync(platform.context.paths.uploads)
const names = (folder: string) => {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

test('two uploads at once are both taken, and the newer deploy wins', async () => {
  const service = await makeService(platform, { name: 'two' })
  const archives = await Promise.all(['1', '2'].map((version) => packApp('hello-js', { VERSION: version })))
  const replies = await Promise.all(archives.map((archive) => upload(platform, service.id, archive)))
  expect(replies.map(({ status }) => status)).toEqual([201, 201])
  const ends = await Promise.all(replies.map(({ body }) => service.ends(body.deployId)))
  const newest = replies
    .map(({ body }) => body.deployId)
    .sort()
    .at(-1)
  expect(ends.find(({ id }) => id === newest)?.status).toBe('live')
  const version = replies.findIndex(({ body }) => body.deployId === newest) + 1
  expect((await platform.ingress.visit('two.localhost')).text).toBe(`hello-js ${version}\n`)
})

test('an upload goes on undisturbed while another deploy ends and is cleaned up after', async () => {
  const service = await makeService(platform, { name: 'slowly' })
  const archive = await packApp('hello-js', { VERSION: 'slow', filler: 'y'.repeat(50_000) })
  const { promise: mayGoOn, resolve: goOn } = Promise.withResolvers<void>()
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      controller.enqueue(archive.slice(0, 100))
      await mayGoOn
      controller.enqueue(archive.slice(100))
      controller.close()
    },
  })
  const sending = fetch(`${platform.url}/v1/services/${service.id}/source/upload`, {
    method: 'POST',
    body,
    headers: { authorization: `Bearer ${platform.adminToken}`, 'content-type': 'application/gzip' },
  })
  await until('the upload has begun', () => uploadsLeft().length > 0)
  await service.goLive('hello-js', { VERSION: 'fast' })
  goOn()
  const reply = await sending
  expect(reply.status).toBe(201)
  const { deployId } = (await reply.json()) as { deployId: string }
  expect((await service.ends(deployId)).status).toBe('live')
  expect((await platform.ingress.visit('slowly.localhost')).text).toBe('hello-js slow\n')
})

test('an upload whose connection breaks leaves nothing', async () => {
  const service = await makeService(platform, { name: 'broken' })
  const { port } = new URL(platform.url)
  const socket = createConnection(Number(port), '127.0.0.1')
  socket.on('error', () => {})
  const head = [
    `POST /v1/services/${service.id}/source/upload HTTP/1.1`,
    'Host: localhost',
    `Authorization: Bearer ${platform.adminToken}`,
    'Content-Type: application/gzip',
    'Content-Length: 100000',
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  socket.write((await packApp('hello-js')).slice(0, 300))
  await until('the upload has begun', () => uploadsLeft().length > 0)
  socket.destroy()
  await until('nothing of it is left', () => uploadsLeft().length === 0)
  expect((await service.ask<unknown[]>('/deploys')).body).toEqual([])
  expect(names(own(service).sources)).toEqual([])
})

test.each([
  ['too large as it comes', async () => new Uint8Array(2 * 1024 * 1024).fill(0x1f), 413],
  [
    'too large once unpacked',
    async () => new Uint8Array(await tarGz([{ name: 'big', content: new Uint8Array(5 * 1024 * 1024) }])),
    undefined,
  ],
  ['cut off', async () => (await packApp('hello-js', { filler: 'z'.repeat(5000) })).slice(0, 300), 400],
  ['no archive', async () => new TextEncoder().encode('hello'), 415],
  ['empty', async () => new Uint8Array(), 400],
  ['with a file outside of it', async () => new Uint8Array(await tarGz([{ name: '../out', content: 'x' }])), 400],
] as const)('an archive that is %s is refused, and leaves nothing', async (fact, archive, status) => {
  const service = await makeService(platform, { name: `refused ${fact}` })
  const reply = await upload(platform, service.id, (await archive()) as Uint8Array<ArrayBuffer>)
  if (status === undefined) expect([400, 413]).toContain(reply.status)
  else expect(reply.status).toBe(status)
  expect(uploadsLeft()).toEqual([])
  for (const folder of [own(service).sources, own(service).builds]) expect(names(folder)).toEqual([])
})

test('a source that is only uploaded is deployed when it is asked for, also a second time', async () => {
  const service = await makeService(platform, { name: 'later' })
  const { body } = await upload(platform, service.id, await packApp('hello-js', { VERSION: 'kept' }), { query: '?deploy=false' })
  expect(body.deployId).toBeUndefined()
  for (let round = 0; round < 2; round++) {
    const deploy = await service.ask<{ id: string }>('/deploys', { method: 'POST', json: { sourceId: body.source.id } })
    expect((await service.ends(deploy.body.id)).status).toBe('live')
  }
  expect((await platform.ingress.visit('later.localhost')).text).toBe('hello-js kept\n')
  expect(names(own(service).releases)).toHaveLength(1)
})

test('a deploy without a source fails to build and says what to do, and one of a source that there is not is refused', async () => {
  const service = await makeService(platform, { name: 'sourceless' })
  const { status, body: begun } = await service.ask<{ id: string }>('/deploys', { method: 'POST' })
  expect(status).toBe(201)
  expect(await service.ends(begun.id)).toMatchObject({ status: 'build_failed', reason: expect.stringContaining('upload') })
  const sourceId = newId('source')
  expect((await service.ask('/deploys', { method: 'POST', json: { sourceId } })).status).toBe(404)
})
