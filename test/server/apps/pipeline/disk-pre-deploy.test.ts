import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type ControlPlane, startControlPlane } from '../../../support/control-plane.ts'
import { diskApp, diskOf, makeServiceWithDisk, type TestDisk } from '../../../support/disks.ts'
import { serviceOf, type TestService } from '../../../support/service.ts'
import { until } from '../../../support/until.ts'

/** Writes to the disk, as a migration does, and then waits for a word from outside. */
const MIGRATION = `echo "$CPD_DEPLOY_ID" >>"$CPD_DISK_PATH/migrations"; touch "$HOME/begun"; until [ -e "$HOME/word" ]; do sleep 0.05; done; grep -q go "$HOME/word"`

const TIMEOUT_MS = 300_000

let plane: ControlPlane
let made: { service: TestService; disk: TestDisk }
let service: TestService
let disk: TestDisk
let first: string

beforeAll(async () => {
  plane = await startControlPlane()
  made = await makeServiceWithDisk(plane, 'migrates', { preDeployCommand: MIGRATION })
  meetAgain()
  first = await deployIntoGap('first')
  say('go')
  await service.reaches(first, 'live')
}, TIMEOUT_MS)
beforeEach(() => rmSync(homeFile('word'), { force: true }))
afterAll(() => plane.close())

/** Every start of the control plane listens at another port. */
function meetAgain(): void {
  service = serviceOf(plane, made.service)
  disk = diskOf(plane, made.disk.id)
}

const homeFile = (name: string) => join(plane.dataDir, 'services', made.service.id, 'home', name)
/** The command sees the word whole or not at all. */
function say(word: 'go' | 'stop'): void {
  writeFileSync(homeFile('said'), word)
  renameSync(homeFile('said'), homeFile('word'))
}

const visitBack = (path: string): Promise<string> =>
  until(`${path} is answered`, async () => {
    const { status, text } = await plane.ingress.visit('migrates.localhost', path)
    return status === 200 && text
  })

/** Uploads, and returns when the command has begun in the gap. */
async function deployIntoGap(note: string): Promise<string> {
  rmSync(homeFile('begun'), { force: true })
  const id = await service.upload('hello-js', { ...diskApp, note })
  await until('the command has begun', () => existsSync(homeFile('begun')))
  expect(await service.instances()).toEqual([])
  return id
}

const migrations = async (): Promise<string[]> => (await visitBack('/get?migrations')).trim().split('\n')

test('a pre-deploy command has the disk to itself, in the gap, which is measured', { timeout: TIMEOUT_MS }, async () => {
  expect(await migrations()).toEqual([first])
  const id = await deployIntoGap('second')
  await disk.ask('', { method: 'PATCH', json: { sizeGB: 2 } })
  expect(await disk.read()).toMatchObject({ status: 'resizing' })
  expect((await service.deploy(id)).status).toBe('pre_deploy_in_progress')
  expect((await plane.ingress.visit('migrates.localhost', '/')).status).toBe(503)
  say('go')
  const { rollout } = await service.reaches(id, 'live')
  expect(rollout).toMatchObject({ strategy: 'stop_first', gapMs: expect.any(Number) })
  expect(await migrations()).toEqual([first, id])
  expect(await disk.isAvailable()).toMatchObject({ sizeGB: 2 })
})

test('one that fails or is canceled brings the old release back', { timeout: TIMEOUT_MS }, async () => {
  const before = await visitBack('/')
  const failing = await deployIntoGap('fails')
  say('stop')
  expect(await service.ends(failing)).toMatchObject({ status: 'pre_deploy_failed', reason: expect.stringContaining('exited with 1') })
  expect(await visitBack('/')).toBe(before)
  rmSync(homeFile('word'))
  const canceled = await deployIntoGap('canceled')
  await service.ask(`/deploys/${canceled}/cancel`, { method: 'POST' })
  expect(await service.ends(canceled)).toMatchObject({ status: 'canceled' })
  expect(await visitBack('/')).toBe(before)
  expect(await migrations()).toContain(failing)
})

test('a control plane that is killed in the gap leaves the command its disk until it is over, and the next one goes on from there', {
  timeout: TIMEOUT_MS,
}, async () => {
  const id = await deployIntoGap('killed')
  await disk.ask('', { method: 'PATCH', json: { sizeGB: 3 } })
  await plane.kill()
  await plane.start()
  meetAgain()
  expect((await service.deploy(id)).status).toBe('pre_deploy_in_progress')
  expect(await service.instances()).toEqual([])
  say('go')
  const { rollout } = await service.reaches(id, 'live')
  expect(rollout.gapMs).toBeGreaterThan(0)
  expect(await visitBack('/')).toBe(id)
  expect((await migrations()).filter((line) => line === id)).toEqual([id])
  expect(await disk.isAvailable()).toMatchObject({ sizeGB: 3 })
})

test('a service that is deleted in the gap is gone, and the command with it', { timeout: TIMEOUT_MS }, async () => {
  await deployIntoGap('deleted')
  expect((await service.ask('', { method: 'DELETE' })).status).toBe(204)
  await until('the service is gone', async () => (await service.ask('')).status === 404)
  await until('its files are gone', () => !existsSync(join(plane.dataDir, 'services', service.id)))
})
