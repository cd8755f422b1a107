import { copyFileSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type RunResult, runProcess } from '../../server/platform/process/spawn.ts'
import { type AppFolder, copyApp } from '../support/app-folder.ts'
import { type Compiled, startCompiled } from '../support/compiled.ts'
import { deployFolder, instancesOf, serviceNamed, settledInstances } from '../support/compiled-steps.ts'

let cpd: Compiled
let app: AppFolder
beforeAll(async () => {
  cpd = await startCompiled()
  app = copyApp('slow')
})
afterAll(async () => {
  app.remove()
  await cpd.stop()
})

const command = (...args: string[]): Promise<RunResult> =>
  runProcess([resolve('dist/cpd'), ...args, '--data', cpd.paths.data], { env: { PATH: process.env.PATH ?? '' }, timeoutMs: 60_000 })

const strays = (...args: string[]): Promise<RunResult> => command('strays', ...args)

async function deploy(version: string): Promise<string> {
  app.setVersion(version)
  await deployFolder(cpd, app.dir, ['--env', 'BUILD_MS=0', '--env', 'START_MS=0'])
  const { id } = await serviceNamed(cpd, 'slow')
  await settledInstances(cpd, id, 1)
  return id
}

test('after an older database was put back, cpd strays lists what it does not know, and ends it when that is confirmed', async () => {
  expect(await strays()).toMatchObject({ exitCode: 0, stdout: 'No strays: the database knows everything that runs.\n' })
  await deploy('1')
  await cpd.terminate()
  expect(await strays()).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('No cpd serve answers') })
  const older = `${cpd.paths.data}-older.db`
  copyFileSync(cpd.paths.controlDb, older)
  await cpd.start()
  const serviceId = await deploy('2')
  const [newer] = await instancesOf(cpd, serviceId)
  await cpd.terminate()
  for (const end of ['-wal', '-shm']) rmSync(cpd.paths.controlDb + end, { force: true })
  copyFileSync(older, cpd.paths.controlDb)
  await cpd.start()
  expect(cpd.output()).toContain('cpd: 1 workload runs here that the database does not know: see `cpd strays`\n')

  const listed = await strays('--json')
  expect(JSON.parse(listed.stdout)).toEqual([expect.objectContaining({ id: newer?.id, serviceId, serviceName: 'slow' })])
  expect((await strays()).stdout).toContain(newer?.id)
  expect(JSON.parse((await command('doctor', '--quick', '--json')).stdout).strays).toEqual(JSON.parse(listed.stdout))
  expect(await strays('end')).toMatchObject({ exitCode: 1, stderr: 'cpd: Name the strays to end, or all of them with --all.\n' })
  expect(await strays('end', 'ins-none', '--yes')).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('no stray ins-none') })
  expect(await strays('end', '--all')).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('Confirm with --yes.') })
  expect(JSON.parse((await strays('--json')).stdout)).toHaveLength(1)
  expect(await strays('end', '--all', '--yes')).toMatchObject({ exitCode: 0, stdout: 'Ended 1 stray.\n' })
  expect(JSON.parse((await strays('--json')).stdout)).toEqual([])
  const audit = await cpd.cpctl(['audit', 'list', '--json', '--event', 'server.stray_ended'])
  expect(audit.stdout).toContain(newer?.id)
  await settledInstances(cpd, serviceId, 1)
  expect(await (await cpd.appFetch('slow')).text()).toBe('slow 1\n')
})
