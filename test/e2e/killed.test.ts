import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createIngressClient } from '../../server/ingress/control/client.ts'
import { servicePathsOf } from '../../server/platform/paths.ts'
import { type AppFolder, copyApp } from '../support/app-folder.ts'
import { type Compiled, killQuietly, startCompiled } from '../support/compiled.ts'
import { deployFolder, deployIn, foldersOf, instancesOf, newestDeploy, serviceNamed, settledInstances } from '../support/compiled-steps.ts'
import { commandLine, processesOf } from '../support/leftovers.ts'
import { type Load, startLoad } from '../support/load.ts'
import { until } from '../support/until.ts'

/** For how long the control plane is away. */
const AWAY_MS = 500

let cpd: Compiled
let app: AppFolder
let load: Load
let serviceId: string
let version = 0

beforeAll(async () => {
  cpd = await startCompiled()
  app = copyApp('slow')
})

afterAll(async () => {
  app.remove()
  await cpd.stop()
})

/** Each test begins with the next version live, under load. */
beforeEach(async () => {
  await deploy()
  serviceId = (await serviceNamed(cpd, 'slow')).id
  await settledInstances(cpd, serviceId, 1)
  load = startLoad({ port: cpd.ingressPort, host: 'slow.localhost' })
  await load.answered(10)
  return async () => load.stop()
})

/** Deploys the next version. */
async function deploy({ env = {}, isAwaited = true }: { env?: Record<string, string>; isAwaited?: boolean } = {}): Promise<void> {
  app.setVersion(String(++version))
  const variables = Object.entries({ BUILD_MS: '0', START_MS: '0', ...env }).flatMap(([key, value]) => ['--env', `${key}=${value}`])
  await deployFolder(cpd, app.dir, [...variables, ...(isAwaited ? [] : ['--detach'])])
}

async function dieAndComeBack(): Promise<void> {
  await cpd.kill9()
  await Bun.sleep(AWAY_MS)
  await cpd.start()
}

/** One true state: the newest version is live and serves, nothing failed meanwhile, and nothing is left over. */
async function expectTruth(): Promise<void> {
  expect((await deployIn(cpd, serviceId, 'live')).status).toBe('live')
  const instances = await settledInstances(cpd, serviceId, 1)
  await load.answered(10)
  await load.stop()
  expect(load.failures()).toEqual([])
  expect(load.samples.at(-1)?.body).toBe(`slow ${version}`)
  expect(foldersOf(cpd, serviceId).builds).toEqual([])
  expect(foldersOf(cpd, serviceId).output.filter((name) => !name.endsWith('.build.log'))).toEqual(instances.map(({ id }) => `${id}.log`))
  const processes = processesOf(cpd.paths.data).map(commandLine)
  expect(processes.filter((line) => /server\.js$/.test(line) && !/^(\/bin\/)?sh /.test(line)).length).toBe(1)
  expect(processes.filter((line) => line.includes('build.js'))).toEqual([])
  console.info(`killed: ${load.samples.length} requests, ${load.failures().length} failed`)
}

const instancePid = async (): Promise<string> => (await (await cpd.appFetch('slow', '/pid')).text()).trim()

test('killed at rest: apps serve on, and the next start adopts the same processes', async () => {
  const before = await instancesOf(cpd, serviceId)
  const pid = await instancePid()
  await dieAndComeBack()
  await expectTruth()
  expect(await instancesOf(cpd, serviceId)).toEqual(before)
  expect(await instancePid()).toBe(pid)
})

test('killed in the middle of a build: the next start builds again, brings it live, and cpctl sees it through', async () => {
  const deployed = deploy({ env: { BUILD_MS: '3000' } })
  await until('the build command runs', () => processesOf(cpd.paths.data).some((pid) => commandLine(pid).endsWith('build.js')))
  expect((await newestDeploy(cpd, serviceId)).status).toBe('build_in_progress')
  await dieAndComeBack()
  await deployed
  await expectTruth()
})

test('killed in the middle of a cut-over: the new instance goes on to start, and takes over', async () => {
  const [old] = await instancesOf(cpd, serviceId)
  await deploy({ env: { START_MS: '3000' }, isAwaited: false })
  await deployIn(cpd, serviceId, 'update_in_progress')
  const started = await until('the new instance runs', async () =>
    (await instancesOf(cpd, serviceId)).find(({ id, startedAt }) => id !== old?.id && startedAt !== undefined),
  )
  await dieAndComeBack()
  await expectTruth()
  expect((await instancesOf(cpd, serviceId)).map(({ id }) => id)).toEqual([started.id])
})

test('killed while the old instances drain: their requests are answered whole, and they are gone afterwards', async () => {
  const held = join(servicePathsOf(cpd.paths, serviceId).home, 'held')
  const long = cpd.appFetch('slow', '/held').then((answer) => answer.text())
  await until('the request is there', () => existsSync(held))
  const old = `slow ${version}\n`
  await deploy()
  await until('the old instance drains', async () => (await instancesOf(cpd, serviceId)).some(({ status }) => status === 'draining'))
  await dieAndComeBack()
  rmSync(held)
  expect(await long).toBe(old)
  await expectTruth()
})

test('the ingress killed: it is started anew and serves with the routes it had', async () => {
  const ingress = createIngressClient(cpd.paths.ingressSocket)
  const { pid } = await ingress.status()
  await load.stop()
  expect(load.failures()).toEqual([])
  process.kill(pid, 'SIGKILL')
  await until('the app answers again', async () => (await cpd.appFetch('slow').catch(() => undefined))?.status === 200, 10_000)
  expect((await ingress.status()).pid).not.toBe(pid)
})

test('the ingress serves while the control plane is away, and is adopted by the next start', async () => {
  const ingress = createIngressClient(cpd.paths.ingressSocket)
  const { pid } = await ingress.status()
  await cpd.terminate()
  await load.answered(50)
  await cpd.start()
  expect((await ingress.status()).pid).toBe(pid)
  await expectTruth()
})

test('killed together with the ingress: the next start brings the ingress back and adopts the app', async () => {
  const pid = await instancePid()
  await load.stop()
  process.kill((await createIngressClient(cpd.paths.ingressSocket).status()).pid, 'SIGKILL')
  await dieAndComeBack()
  expect(await instancePid()).toBe(pid)
})

test('everything killed, as by a loss of power: the next start starts it all again', async () => {
  await load.stop()
  await cpd.kill9()
  // One may end with another that was killed before it.
  for (const pid of processesOf(cpd.paths.data)) killQuietly(pid)
  await cpd.start()
  // Until it has been looked at, an instance that is gone is still told as running.
  await until('it answers again', async () => (await (await cpd.appFetch('slow')).text()) === `slow ${version}\n`)
  await settledInstances(cpd, serviceId, 1)
  expect((await newestDeploy(cpd, serviceId)).status).toBe('live')
})
