import { existsSync, readdirSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { servicePathsOf } from '../../../../server/platform/paths.ts'
import type { Deploy } from '../../../../shared/deploy.ts'
import type { ErrorBody } from '../../../../shared/error.ts'
import type { Environment, Project } from '../../../../shared/project.ts'
import { call } from '../../../support/client.ts'
import { makeKey, registerTenant } from '../../../support/members.ts'
import { type Platform, startPlatform } from '../../../support/platform.ts'
import { makeService, type TestService } from '../../../support/service.ts'
import { until } from '../../../support/until.ts'

let platform: Platform
let original: TestService
let sourceId: string
beforeAll(async () => {
  platform = await startPlatform({ CP_REGISTRATION: 'open' })
  original = await makeService(platform, { name: 'original' })
  sourceId = (await original.goLive('hello-js', { VERSION: '7' })).source?.id ?? ''
})
afterAll(() => platform.close())

const deployOf = <T = Deploy>(service: TestService, json: object, token = platform.adminToken) =>
  call<T>(`${platform.url}/v1/services/${service.id}/deploys`, { json, token })
const sourcesOf = ({ id }: TestService) => readdirSync(servicePathsOf(platform.context.paths, id).sources)

test('a source that the caller does not see is none', async () => {
  const stranger = await registerTenant(platform, 'stranger@example.com')
  const theirs = await makeService({ url: platform.url, adminToken: stranger.token }, { name: 'theirs' })
  const { status, body } = await deployOf<ErrorBody>(theirs, { sourceId }, stranger.token)
  const own = await makeService(platform, { name: 'own' })
  const scope = { serviceIds: [own.id] }
  const key = await call<{ secret: string }>(`${platform.url}/v1/api-keys`, { json: { name: 'ci', scope }, token: platform.adminToken })
  expect((await deployOf(own, { sourceId }, key.body.secret)).status).toBe(404)
  expect({ status, message: body.message }).toEqual({ status: 404, message: `There is no source ${sourceId} in this workspace.` })
})

test('what is in a protected environment is not carried out of it', async () => {
  const headers = { token: platform.adminToken }
  const environments = [{ name: 'production', protectedStatus: 'protected' }]
  const project = await call<Project>(`${platform.url}/v1/projects`, { json: { name: 'shop', environments }, ...headers })
  const [environmentId] = project.body.environmentIds
  expect((await call<Environment>(`${platform.url}/v1/environments/${environmentId}`, headers)).body.protectedStatus).toBe('protected')
  const guarded = await makeService(platform, { name: 'guarded', environmentId })
  const live = await guarded.goLive('hello-js', { VERSION: '8' })
  const open = await makeService(platform, { name: 'open' })
  const developer = await makeKey(platform, 'developer')
  const taken = await deployOf<ErrorBody>(open, { sourceId: live.source?.id }, developer.secret)
  expect(taken.status).toBe(403)
  expect(taken.body.message).toContain('environments.manage_protected')
  const within = await deployOf(guarded, { sourceId: live.source?.id }, developer.secret)
  expect(within.status).toBe(201)
  await guarded.ends(within.body.id)
  expect((await deployOf(open, { sourceId: live.source?.id })).status).toBe(201)
})

test('a service is deployed from the source of another, which it has from then on, whatever becomes of the other', async () => {
  const copy = await makeService(platform, { name: 'copy' })
  const { status, body } = await deployOf(copy, { sourceId })
  expect(status).toBe(201)
  expect((await copy.ends(body.id)).status).toBe('live')
  expect((await platform.ingress.visit('copy.localhost')).text).toBe('hello-js 7\n')
  const own = body.source?.id
  expect(own).not.toBe(sourceId)

  const again = await deployOf(copy, { sourceId })
  expect(again.body.source?.id).toBe(own)
  expect((await copy.ends(again.body.id)).status).toBe('live')
  expect(sourcesOf(copy)).toEqual([`${own}.tar.gz`])

  await call(`${platform.url}/v1/services/${original.id}`, { method: 'DELETE', token: platform.adminToken })
  await until('the original is gone', () => !existsSync(servicePathsOf(platform.context.paths, original.id).root))
  const rebuilt = await deployOf(copy, { clearCache: 'clear' })
  expect((await copy.ends(rebuilt.body.id)).status).toBe('live')
})
