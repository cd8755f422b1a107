import { existsSync, readdirSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { servicePathsOf } from '../../../../server/platform/paths.ts'
import type { Deploy, RollbackPlan } from '../../../../shared/deploy.ts'
import { packApp, upload } from '../../../support/apps.ts'
import { type Platform, startPlatform } from '../../../support/platform.ts'
import { makeService, type TestService } from '../../../support/service.ts'
import { until } from '../../../support/until.ts'

let platform: Platform
beforeAll(async () => {
  platform = await startPlatform({ CP_RELEASES_KEPT: '3' })
})
afterAll(() => platform.close())

/** Tells its version, a variable and a secret file. */
const teller = {
  'server.js': `
    const { readFileSync } = require('node:fs')
    const version = readFileSync(__dirname + '/VERSION', 'utf8').trim()
    const file = readFileSync(process.env.CPD_SECRETS_DIR + '/key.pem', 'utf8')
    require('node:http').createServer((_, response) => response.end([version, process.env.COLOR, file].join()))
      .listen(process.env.PORT, '127.0.0.1')
    process.on('SIGTERM', () => process.exit(0))`,
}

const told = async ({ name }: TestService) => (await platform.ingress.visit(`${name}.localhost`)).text
const put = (service: TestService, path: string, json: unknown) => service.ask(path, { method: 'PUT', json })
const rollback = <T = Deploy>(service: TestService, json: unknown = {}) => service.ask<T>('/rollback', { method: 'POST', json })

async function setAll(service: TestService, { color, file, plan }: { color: string; file: string; plan: string }): Promise<void> {
  await put(service, '/env-vars', [{ key: 'COLOR', value: color }])
  await put(service, '/secret-files', [{ name: 'key.pem', content: file }])
  await service.ask('', { method: 'PATCH', json: { serviceDetails: { plan } } })
}

/** Two releases: `1,red,old-key` on starter, then `2,blue,new-key` on pro. */
async function twoReleases(name: string): Promise<{ service: TestService; first: Deploy; second: Deploy }> {
  const service = await makeService(platform, { name })
  await setAll(service, { color: 'red', file: 'old-key', plan: 'starter' })
  const first = await service.goLive('hello-js', { ...teller, VERSION: '1' })
  await setAll(service, { color: 'blue', file: 'new-key', plan: 'pro' })
  const second = await service.goLive('hello-js', { ...teller, VERSION: '2' })
  return { service, first, second }
}

describe('a rollback', () => {
  test('restores code, variables, secret files and settings, and the service keeps them', async () => {
    const { service, first, second } = await twoReleases('back')
    expect(await told(service)).toBe('2,blue,new-key')
    const { status, body } = await rollback(service)
    expect(status).toBe(201)
    expect(body).toMatchObject({ trigger: 'rollback', rollbackOf: first.id })
    await service.ends(body.id)
    expect(await told(service)).toBe('1,red,old-key')
    expect((await service.ask<unknown>('/env-vars')).body).toMatchObject([{ envVar: { key: 'COLOR', value: 'red' } }])
    expect((await service.ask<unknown>('/secret-files')).body).toMatchObject([{ secretFile: { name: 'key.pem', content: 'old-key' } }])
    expect((await service.ask<unknown>('')).body).toMatchObject({ serviceDetails: { plan: 'starter' } })
    expect((await service.deploy(second.id)).status).toBe('deactivated')
  })

  test('is shown beforehand by a dry run: names of secrets, never their values, and nothing changes', async () => {
    const { service, first, second } = await twoReleases('dry')
    const { status, body } = await rollback<RollbackPlan>(service, { dryRun: true })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      fromDeployId: second.id,
      toDeployId: first.id,
      code: { changes: true },
      envVars: { added: [], removed: [], changed: ['COLOR'] },
      secretFiles: { changed: ['key.pem'] },
      settings: [{ name: 'plan', from: 'pro', to: 'starter' }],
    })
    for (const secret of ['red', 'blue', 'old-key', 'new-key']) expect(JSON.stringify(body)).not.toContain(secret)
    expect(await told(service)).toBe('2,blue,new-key')
    expect((await service.ask<unknown[]>('/deploys')).body).toHaveLength(2)
  })

  test('takes the place of a deploy on its way', async () => {
    const { service, first } = await twoReleases('hurry')
    const stuck = await service.upload('hello-js', { 'server.js': 'setInterval(() => {}, 1000)' })
    await service.reaches(stuck, 'update_in_progress')
    const { body } = await rollback(service, { deployId: first.id })
    expect((await service.ends(body.id)).status).toBe('live')
    expect((await service.deploy(stuck)).status).toBe('canceled')
    expect(await told(service)).toBe('1,red,old-key')
  })

  test('is refused without an earlier release, to a deploy that was never live, and to another service’s', async () => {
    const service = await makeService(platform, { name: 'no-way' })
    expect((await rollback(service)).status).toBe(409)
    await service.goLive('hello-js')
    expect((await rollback(service)).status).toBe(409)
    const failed = await service.upload('build-fails')
    await service.ends(failed)
    expect((await rollback(service, { deployId: failed })).status).toBe(409)
    const { first } = await twoReleases('stranger')
    expect((await rollback(service, { deployId: first.id })).status).toBe(404)
  })
})

test('only the newest releases are kept, with their built files and sources, and no older one can be gone back to', async () => {
  const service = await makeService(platform, { name: 'many' })
  const deploys: Deploy[] = []
  for (const version of ['1', '2', '3', '4', '5']) deploys.push(await service.goLive('hello-js', { VERSION: version }))
  const own = servicePathsOf(platform.context.paths, service.id)
  await until('older releases are gone', () => readdirSync(own.releases).length === 3)
  await until('older sources are gone', () => readdirSync(own.sources).length === 3)
  await until('what was put aside is gone', () => [own.builds, own.trash].every((dir) => !existsSync(dir) || readdirSync(dir).length === 0))
  expect(await rollback(service, { deployId: deploys[0]?.id })).toMatchObject({
    status: 409,
    body: { message: `The release of ${deploys[0]?.id} is no longer kept; the newest 3 are.` },
  })
  const { body } = await rollback(service, { deployId: deploys[2]?.id })
  await service.ends(body.id)
  expect(await told(service)).toBe('hello-js 3\n')
})

describe('deploy_only', () => {
  const deployOnly = (service: TestService) => service.ask<Deploy>('/deploys', { method: 'POST', json: { deployMode: 'deploy_only' } })

  test('starts the live build with the variables and settings of now, without building', async () => {
    const { service } = await twoReleases('only')
    await put(service, '/env-vars', [{ key: 'COLOR', value: 'green' }])
    const { status, body } = await deployOnly(service)
    expect(status).toBe(201)
    expect((await service.ends(body.id)).status).toBe('live')
    expect(await told(service)).toBe('2,green,new-key')
    const own = servicePathsOf(platform.context.paths, service.id)
    expect(readdirSync(own.releases)).toHaveLength(2)
    const builds = (await service.events()).filter(({ type }) => type === 'build_started')
    expect(builds).toHaveLength(2)
  })

  test('runs the pre-deploy command that the settings have gained', async () => {
    const { service } = await twoReleases('gains')
    await service.ask('', { method: 'PATCH', json: { serviceDetails: { preDeployCommand: 'exit 7' } } })
    const { body } = await deployOnly(service)
    expect(await service.ends(body.id)).toMatchObject({
      status: 'pre_deploy_failed',
      reason: 'The pre-deploy command exited with 7; see the build log.',
    })
  })

  test('is refused while nothing is live', async () => {
    const service = await makeService(platform, { name: 'none-yet' })
    await upload(platform, service.id, await packApp('hello-js'), { query: '?deploy=false' })
    expect((await deployOnly(service)).status).toBe(409)
  })
})
