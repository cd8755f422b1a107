import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AppFolder, copyApp } from '../support/app-folder.ts'
import { type Compiled, startCompiled } from '../support/compiled.ts'
import { cpctl, deployFolder, serviceNamed, settledInstances } from '../support/compiled-steps.ts'
import { contradictionsOfSwitch, type Load, startLoad } from '../support/load.ts'
import { frames, openSocket } from '../support/socket.ts'

const DRAIN_SECONDS = 3

let cpd: Compiled
const folders: AppFolder[] = []
const folderOf = (app: string): AppFolder => {
  const folder = copyApp(app)
  folders.push(folder)
  return folder
}

beforeAll(async () => {
  cpd = await startCompiled({ env: { CP_DRAIN_SECONDS: String(DRAIN_SECONDS) } })
})

afterAll(async () => {
  for (const folder of folders) folder.remove()
  await cpd.stop()
})

test('10 deploys, 5 restarts and 5 rollbacks under 100 requests a second lose none, and each changes the version exactly once', async () => {
  const app = folderOf('hello-js')
  await deployFolder(cpd, app.dir, ['--guard'])
  const { id } = await serviceNamed(cpd, 'hello-js')
  const load = startLoad({ port: cpd.ingressPort, host: 'hello-js.localhost' })
  await load.answered(20)

  for (let version = 2; version <= 11; version++) {
    app.setVersion(String(version))
    await switchesOnce(load, `hello-js ${version - 1}`, `hello-js ${version}`, () => deployFolder(cpd, app.dir, ['--guard']))
  }
  for (let restart = 0; restart < 5; restart++) {
    const [before] = await settledInstances(cpd, id, 1)
    const first = load.samples.length
    await cpctl(cpd, 'services', 'restart', 'hello-js')
    const after = await untilReplaced(id, before?.id)
    expect(after).toHaveLength(1)
    await load.answered(20)
    expect(new Set(load.samples.slice(first).map(({ body }) => body))).toEqual(new Set(['hello-js 11']))
  }
  const versions = ['hello-js 11', 'hello-js 10']
  for (let rollback = 0; rollback < 5; rollback++) {
    const [from = '', to = ''] = rollback % 2 === 0 ? versions : [...versions].reverse()
    await switchesOnce(load, from, to, () => cpctl(cpd, 'rollback', '--service', 'hello-js'))
  }

  await load.stop()
  expect(load.failures()).toEqual([])
  expect(load.samples.length).toBeGreaterThan(300)
  console.info(`no-request-lost: ${load.samples.length} requests, ${load.failures().length} failed`)
}, 180_000)

async function switchesOnce(load: Load, from: string, to: string, act: () => Promise<unknown>): Promise<void> {
  const first = load.samples.length
  await act()
  await load.answered(20)
  expect(contradictionsOfSwitch(load.samples.slice(first), from, to)).toEqual([])
}

async function untilReplaced(serviceId: string, oldId: string | undefined) {
  for (;;) {
    const instances = await settledInstances(cpd, serviceId, 1)
    if (instances[0]?.id !== oldId) return instances
    await Bun.sleep(20)
  }
}

test('a request that is under way during a deploy is answered by the old release', async () => {
  const app = folderOf('slow')
  await deployFolder(cpd, app.dir)
  const slow = cpd.appFetch('slow', '/slow?ms=1500')
  await Bun.sleep(100)
  app.setVersion('2')
  await deployFolder(cpd, app.dir)
  expect(await (await cpd.appFetch('slow')).text()).toBe('slow 2\n')
  const answer = await slow
  expect(answer.status).toBe(200)
  expect(await answer.text()).toBe('slow 1\n')
})

test('a WebSocket lives on through a deploy until the drain ends, and is then closed with 1001', async () => {
  const app = folderOf('websocket-sse')
  await deployFolder(cpd, app.dir)
  const socket = await openSocket(`http://127.0.0.1:${cpd.ingressPort}/echo`, { host: 'websocket-sse.localhost' })
  const closing = new Promise<CloseEvent>((resolve) => socket.addEventListener('close', resolve, { once: true }))
  expect(await frames(socket, 1)).toEqual(['hello 1'])
  app.setVersion('2')
  await deployFolder(cpd, app.dir)
  expect(await (await cpd.appFetch('websocket-sse')).text()).toBe('websocket-sse 2\n')
  socket.send('still there?')
  expect(await frames(socket, 1)).toEqual(['still there?'])
  expect((await closing).code).toBe(1001)
  const { id } = await serviceNamed(cpd, 'websocket-sse')
  await settledInstances(cpd, id, 1)
})
