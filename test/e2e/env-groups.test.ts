import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ResolvedEnvVar } from '../../shared/env.ts'
import { type AppFolder, copyApp } from '../support/app-folder.ts'
import { type Compiled, startCompiled } from '../support/compiled.ts'
import { cpctl, deployFolder, deploysOf, newestDeploy, serviceNamed } from '../support/compiled-steps.ts'
import { contradictionsOfSwitch, type Load, startLoad } from '../support/load.ts'

const SERVER = `
require('node:http').createServer((request, response) => response.end(process.env.URL + '\\n'))
  .listen(Number(process.env.PORT), '127.0.0.1')
process.on('SIGTERM', () => process.exit(0))
`

const names = ['web', 'api', 'own'] as const

let cpd: Compiled
let app: AppFolder
const ids = new Map<string, string>()
beforeAll(async () => {
  cpd = await startCompiled({ env: { CP_DRAIN_SECONDS: '2' } })
  app = copyApp('hello-js')
  app.write('server.js', SERVER)
  await cpctl(cpd, 'env-groups', 'create', 'database', 'HOST=old')
  for (const name of names) {
    await cpctl(cpd, 'services', 'create', name)
    ids.set(name, (await serviceNamed(cpd, name)).id)
    // A shell would take the reference for its own; this is none.
    await cpctl(cpd, 'env', 'set', name, 'URL=pg://${HOST}', '--interpolate')
  }
  await cpctl(cpd, 'env', 'set', 'own', 'HOST=mine')
  await cpctl(cpd, 'env-groups', 'link', 'database', ...names)
  for (const name of names) await deployFolder(cpd, app.dir, ['--service', name])
})
afterAll(async () => {
  app.remove()
  await cpd.stop()
})

const shown = async (name: string) => (await (await cpd.appFetch(name)).text()).trim()
const all = async () => await Promise.all(names.map(shown))
const id = (name: string) => ids.get(name) ?? ''

test('a changed group redeploys under load exactly those whose values it changes, and no request is lost', async () => {
  expect(await all()).toEqual(['pg://old', 'pg://old', 'pg://mine'])
  const loads = new Map<string, Load>(names.map((name) => [name, startLoad({ port: cpd.ingressPort, host: `${name}.localhost` })]))
  for (const load of loads.values()) await load.answered(20)
  const printed = await cpctl(cpd, 'env-groups', 'set', 'database', 'HOST=new', '--deploy')
  expect(printed).toMatch(/^Set HOST of database\.\n/)
  for (const name of ['web', 'api']) expect(printed).toMatch(new RegExp(`^${name} +HOST, URL`, 'm'))
  expect(printed).not.toMatch(/^own /m)
  for (const load of loads.values()) {
    await load.answered(20)
    await load.stop()
  }
  for (const [name, load] of loads) {
    expect({ name, failures: load.failures() }).toEqual({ name, failures: [] })
    if (name !== 'own') expect(contradictionsOfSwitch(load.samples, 'pg://old', 'pg://new')).toEqual([])
  }
  expect(await all()).toEqual(['pg://new', 'pg://new', 'pg://mine'])
  expect(await Promise.all(names.map(async (name) => (await deploysOf(cpd, id(name))).length))).toEqual([2, 2, 1])
  expect(await newestDeploy(cpd, id('web'))).toMatchObject({ trigger: 'service_updated', status: 'live' })
  console.info(`env-groups: ${[...loads.values()].reduce((sum, { samples }) => sum + samples.length, 0)} requests, none failed`)
}, 120_000)

test('every value is explained', async () => {
  const printed = await cpctl(cpd, 'env', 'list', 'own', '--resolved', '--show')
  expect(printed).toMatch(/^HOST +mine +itself +database +yes$/m)
  expect(printed).toMatch(/^URL +pg:\/\/mine +itself +yes$/m)
  expect(printed).toMatch(/^CPD_SERVICE_NAME +own +platform/m)
  const page: { envVar: ResolvedEnvVar }[] = JSON.parse(await cpctl(cpd, 'env', 'list', 'web', '--resolved', '--show', '--json'))
  expect(page.find(({ envVar }) => envVar.key === 'HOST')?.envVar).toMatchObject({
    value: 'new',
    source: { type: 'group', name: 'database' },
  })
})

test('a rollback brings the old value of the group back to one service alone', async () => {
  await cpctl(cpd, 'rollback', '--service', 'web')
  expect(await all()).toEqual(['pg://old', 'pg://new', 'pg://mine'])
  expect(await cpctl(cpd, 'env', 'list', 'web', '--resolved', '--show')).toMatch(/^HOST +new +database +not yet$/m)
  expect(await cpctl(cpd, 'env-groups', 'export', 'database')).toBe('HOST=new\n')
})

test('a group that is in use goes by force alone, and what refers to it cannot be deployed then', async () => {
  const refused = await cpd.cpctl(['env-groups', 'delete', 'database', '--yes'])
  expect(refused).toMatchObject({ exitCode: 1 })
  for (const name of names) expect(refused.stderr).toContain(name)
  expect(await cpctl(cpd, 'env-groups', 'delete', 'database', '--yes', '--force')).toMatch(
    /^api +HOST, URL +URL refers to HOST, which is not set$/m,
  )
  const failed = await cpd.cpctl(['deploy', app.dir, '--service', 'api'])
  expect(failed.exitCode).toBe(1)
  expect(failed.stderr).toContain('URL refers to HOST, which is not set')
  expect(await all()).toEqual(['pg://old', 'pg://new', 'pg://mine'])
})
