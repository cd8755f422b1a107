import { existsSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { servicePathsOf } from '../../server/platform/paths.ts'
import { type AppFolder, copyApp } from '../support/app-folder.ts'
import { type Compiled, startCompiled } from '../support/compiled.ts'
import { cpctl, deployFolder, instancesOf, serviceNamed, settledInstances } from '../support/compiled-steps.ts'
import { processesOf } from '../support/leftovers.ts'
import { startLoad } from '../support/load.ts'
import { closed, frames, openSocket } from '../support/socket.ts'
import { until } from '../support/until.ts'

const SHUTDOWN_DELAY_SECONDS = 1

let cpd: Compiled
const folders: AppFolder[] = []
const deployed = async (app: string, args: string[] = []): Promise<string> => {
  const folder = copyApp(app)
  folders.push(folder)
  await deployFolder(cpd, folder.dir, args)
  return (await serviceNamed(cpd, app)).id
}

beforeAll(async () => {
  cpd = await startCompiled()
})

afterAll(async () => {
  for (const folder of folders) folder.remove()
  await cpd.stop()
})

test('an unknown host is a 404 page that says so', async () => {
  const answer = await cpd.appFetch('nobody', '/', { headers: { accept: 'text/html' } })
  expect(answer.status).toBe(404)
  expect(answer.headers.get('content-type')).toContain('text/html')
  expect(await answer.text()).toContain('nobody.localhost')
})

test('a suspended service answers 503 with Retry-After and runs nothing; resumed, it serves again', async () => {
  const id = await deployed('hello-js')
  await cpctl(cpd, 'services', 'suspend', 'hello-js')
  const answer = await until('it is suspended', async () => {
    const reply = await cpd.appFetch('hello-js')
    return reply.status === 503 && reply
  })
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
  await settledInstances(cpd, id, 0)
  const refused = await cpd.cpctl(['deploys', 'create', 'hello-js'])
  expect(refused.exitCode).toBe(1)
  expect(refused.stderr).toContain('Resume it first')
  await cpctl(cpd, 'services', 'resume', 'hello-js')
  await settledInstances(cpd, id, 1)
  expect(await (await cpd.appFetch('hello-js')).text()).toBe('hello-js 1\n')
})

test('scaling to 3 and back to 1 loses no request, and all three instances answer', async () => {
  const id = await deployed('slow')
  const load = startLoad({ port: cpd.ingressPort, host: 'slow.localhost', path: '/pid' })
  await load.answered(10)
  await cpctl(cpd, 'services', 'scale', 'slow', '3')
  await settledInstances(cpd, id, 3)
  const first = load.samples.length
  await load.answered(100)
  expect(new Set(load.samples.slice(first).map(({ body }) => body)).size).toBe(3)
  await cpctl(cpd, 'services', 'scale', 'slow', '1')
  await settledInstances(cpd, id, 1)
  const last = load.samples.length
  await load.answered(20)
  await load.stop()
  expect(new Set(load.samples.slice(last + 5).map(({ body }) => body)).size).toBe(1)
  expect(load.failures()).toEqual([])
  await cpctl(cpd, 'services', 'delete', 'slow', '--yes')
})

test('an app that dies is a 502 that names the service until it is back by itself', async () => {
  const id = await deployed('slow')
  await cpd.appFetch('slow', '/die').catch(() => undefined)
  // What is sent while the kernel takes the network of the dead away is lost, and sent again a second later, when it may be back.
  const asked = Array.from({ length: 5 }, async (_, index) => {
    await Bun.sleep(index * 100)
    const answer = await cpd.appFetch('slow')
    return `${answer.status} ${await answer.text()}`
  })
  const failures = (await Promise.all(asked)).filter((answer) => !answer.startsWith('200 '))
  expect(failures.length).toBeGreaterThan(0)
  for (const answer of failures) expect(answer).toMatch(/^502 [\s\S]*slow/)
  await until('it is back', async () => (await cpd.appFetch('slow')).status === 200)
  // An instance is said to serve once everybody who may ask for it has been told the way.
  await settledInstances(cpd, id, 1)
  expect(await instancesOf(cpd, id)).toMatchObject([{ status: 'running', restarts: 1 }])
  expect(await cpctl(cpd, 'services', 'events', 'slow')).toContain('server_failed')
})

test('deleting a service leaves neither processes, nor files, nor its address', async () => {
  const id = await deployed('counter')
  const { root } = servicePathsOf(cpd.paths, id)
  expect(processesOf(root).length).toBeGreaterThan(0)
  await cpctl(cpd, 'services', 'delete', 'counter', '--yes')
  expect((await cpd.cpctl(['services', 'get', 'counter'])).exitCode).toBe(1)
  await until('its folder is gone', () => !existsSync(root))
  expect(processesOf(root)).toEqual([])
  expect((await cpd.appFetch('counter')).status).toBe(404)
  const again = await deployed('counter')
  expect(again).not.toBe(id)
})

test('WebSockets and Server-Sent Events pass through the ingress as they come', async () => {
  await deployed('websocket-sse')
  const socket = await openSocket(`http://127.0.0.1:${cpd.ingressPort}/echo`, { host: 'websocket-sse.localhost' })
  expect(await frames(socket, 1)).toEqual(['hello 1'])
  const long = 'x'.repeat(100_000)
  socket.send('short')
  socket.send(long)
  expect(await frames(socket, 2)).toEqual(['short', long])
  const isClosed = closed(socket)
  socket.close(1000)
  expect((await isClosed).code).toBe(1000)

  const events = await cpd.appFetch('websocket-sse', '/events')
  expect(events.headers.get('content-type')).toBe('text/event-stream')
  const reader = events.body?.getReader()
  const decoder = new TextDecoder()
  let text = ''
  while (!text.includes('id: 3')) text += decoder.decode((await reader?.read())?.value, { stream: true })
  await reader?.cancel()
  expect(text).toMatch(/^id: 1\ndata: 1 1\n\nid: 2\ndata: 1 2\n\nid: 3/)
})

test('an app that ignores SIGTERM is gone after its shutdown delay', async () => {
  const id = await deployed('ignores-sigterm', ['--shutdown-delay', String(SHUTDOWN_DELAY_SECONDS)])
  const { root } = servicePathsOf(cpd.paths, id)
  const begun = performance.now()
  await cpctl(cpd, 'services', 'suspend', 'ignores-sigterm')
  await settledInstances(cpd, id, 0)
  expect(performance.now() - begun).toBeGreaterThan(SHUTDOWN_DELAY_SECONDS * 1000)
  expect(processesOf(root)).toEqual([])
  expect(await cpctl(cpd, 'logs', 'ignores-sigterm')).toContain('ignored SIGTERM')
})
