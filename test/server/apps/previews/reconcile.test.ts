import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { reconcilePreviews } from '../../../../server/apps/previews/reconcile.ts'
import { findPreview, type StoredPreview } from '../../../../server/apps/previews/store.ts'
import { linksOf, membersOf } from '../../../../server/apps/private-network/links.ts'
import { followRename } from '../../../../server/apps/repositories/looks/renames.ts'
import { findService, removeServiceRow, type StoredService, serviceById } from '../../../../server/apps/services/store.ts'
import { secretsForRelease } from '../../../../server/apps/variables/resolved.ts'
import { repositoryKey } from '../../../../shared/repository.ts'
import type { Service } from '../../../../shared/service.ts'
import { createService } from '../../../support/apps.ts'
import { call } from '../../../support/client.ts'
import { addDatastore } from '../../../support/datastores.ts'
import { defaultWorkspaceId } from '../../../support/members.ts'
import { addRequest } from '../../../support/previews.ts'
import { startTestServer, type TestServer } from '../../../support/server.ts'

const repo = 'https://git.example.com/ada/shop'
const repository = repositoryKey(repo) ?? ''
const commit = 'a'.repeat(40)

let server: TestServer
let count = 0
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.close())

const ask = <T = Record<string, unknown>>(path: string, options: { method?: string; json?: unknown } = {}) =>
  call<T>(server.url + path, { token: server.adminToken, ...options })

async function makeParent(body: Record<string, unknown> = {}): Promise<{ id: string; name: string }> {
  const name = `shop-${++count}`
  const serviceDetails = { previews: { generation: 'automatic' } }
  return { id: await createService(server, { name, repo, branch: 'main', autoDeploy: 'no', serviceDetails, ...body }), name }
}

/** A request, and its preview once what is to be done for it was done. */
function reconciled(
  parentId: string,
  request: Partial<StoredPreview> = {},
): { preview: StoredPreview; service: StoredService | undefined } {
  const number = Number(addRequest(server, parentId, { repository, isFork: false, number: ++count, ...request }))
  reconcilePreviews(server.context, parentId)
  const preview = findPreview(server.db, { parentId, number })
  if (preview === undefined) throw new Error('It is forgotten')
  return { preview, service: preview.serviceId === null ? undefined : serviceById(server.db, preview.serviceId) }
}

const secretsOf = (service: StoredService | undefined) => {
  if (service === undefined) throw new Error('There is no preview')
  const { envVars, secretFiles } = secretsForRelease(server.context, service)
  return { env: Object.fromEntries(envVars.map(({ key, value }) => [key, value])), files: secretFiles.map(({ name }) => name) }
}

describe('what a preview is given', () => {
  const body = { envVars: [{ key: 'SECRET', value: 'live' }], secretFiles: [{ name: 'key.pem', content: 'x' }] }

  test('is what its parent has, groups in their order included, with the values for previews', async () => {
    const parent = await makeParent(body)
    for (const [name, value] of [
      ['first', '1'],
      ['second', '2'],
    ]) {
      const envVars = [
        { key: 'SHARED', value },
        { key: `OF_${name}`, value },
      ]
      await ask('/v1/env-groups', { json: { name: `${name} of ${parent.name}`, envVars, serviceIds: [parent.id] } })
    }
    await ask(`/v1/services/${parent.id}/preview-values/OF_first`, { method: 'PUT', json: { value: 'preview' } })
    const { service } = reconciled(parent.id)
    expect(secretsOf(service)).toEqual({
      env: { SECRET: 'live', SHARED: '2', OF_first: 'preview', OF_second: '2' },
      files: ['key.pem'],
    })
  })

  test('is of a fork only values for previews, also where somebody links more', async () => {
    const parent = await makeParent(body)
    const json = { name: `all of ${parent.name}`, envVars: [{ key: 'SHARED', value: 'x' }], secretFiles: [{ name: 'a', content: 'x' }] }
    const { body: group } = await ask<{ id: string }>('/v1/env-groups', { json: { ...json, serviceIds: [parent.id] } })
    await ask(`/v1/services/${parent.id}/preview-values/MODE`, { method: 'PUT', json: { value: 'preview' } })
    const { service } = reconciled(parent.id, { isFork: true, headCommit: commit, approvedCommit: commit })
    expect(service?.foreignCommit).toBe(commit)
    await ask(`/v1/env-groups/${group.id}/services/${service?.id}`, { method: 'POST' })
    expect(secretsOf(service)).toEqual({ env: { MODE: 'preview' }, files: [] })
  })

  test('leads a fork to no database, and to nobody in the private network', async () => {
    const workspaceId = await defaultWorkspaceId(server)
    const parent = await makeParent()
    const { service } = reconciled(parent.id, { isFork: true, headCommit: commit, approvedCommit: commit })
    const id = addDatastore(server, { workspaceId })
    const set = await ask(`/v1/services/${service?.id}/env-vars/DATABASE_URL`, { method: 'PUT', json: { fromDatabase: { id } } })
    expect(set.status).toBe(200)
    expect(() => secretsOf(service)).toThrow('cannot be reached')
    const networks = new Map(linksOf(membersOf(server.db)).map(({ owner, network }) => [owner.id, network]))
    expect(networks.get(service?.id ?? '')).toBe(service?.id)
    expect([...networks.values()].filter((network) => network === service?.id)).toHaveLength(1)
    expect(networks.get(parent.id)).toBe(workspaceId)
  })
})

describe('a preview', () => {
  test('is named after its request, and says whose it is', async () => {
    const parent = await makeParent()
    const { service, preview } = reconciled(parent.id)
    expect(service).toMatchObject({ name: `${parent.name}-pr-${preview.number}`, slug: `${parent.name}-pr-${preview.number}` })
    const { body } = await ask<Service>(`/v1/services/${service?.id}`)
    expect(body.serviceDetails).toMatchObject({ parentServer: parent, plan: 'free', previews: { generation: 'off' } })
    const ids = async (query: string) => (await ask<{ service: Service }[]>(`/v1/services?${query}`)).body.map((one) => one.service.id)
    expect(await ids('limit=100')).toContain(service?.id)
    expect(await ids('limit=100&includePreviews=false')).not.toContain(service?.id)
  })

  test('is deployed at its commit once, with what the parent has by then', async () => {
    const parent = await makeParent()
    const { service, preview } = reconciled(parent.id, { headCommit: commit })
    reconcilePreviews(server.context, parent.id)
    const deploys = async () => (await ask<{ deploy: { commit: { id: string } } }[]>(`/v1/services/${service?.id}/deploys`)).body
    expect((await deploys()).map(({ deploy }) => deploy.commit.id)).toEqual([commit])
    await ask(`/v1/services/${parent.id}`, { method: 'PATCH', json: { serviceDetails: { healthCheckPath: '/up' } } })
    const next = 'b'.repeat(40)
    server.db.query('UPDATE previews SET head_commit = ? WHERE service_id = ?').run(next, service?.id ?? '')
    reconcilePreviews(server.context, parent.id)
    expect((await deploys()).map(({ deploy }) => deploy.commit.id)).toEqual([next, commit])
    expect(serviceById(server.db, service?.id ?? '')?.settings.healthCheckPath).toBe('/up')
    expect(findPreview(server.db, preview)).toMatchObject({ deployedCommit: next, problem: null })
  })

  test('whose name is taken says so, and is made when it is free', async () => {
    const parent = await makeParent()
    const number = ++count
    const taken = await createService(server, { name: `${parent.name}-pr-${number}` })
    const { preview } = reconciled(parent.id, { number })
    expect(preview).toMatchObject({ serviceId: null, problem: expect.stringContaining('Rename or delete') })
    await ask(`/v1/services/${taken}`, { method: 'DELETE' })
    reconcilePreviews(server.context, parent.id)
    expect(findPreview(server.db, preview)).toMatchObject({ serviceId: expect.any(String), problem: null })
  })

  test('beyond the most that there can be waits until another goes', async () => {
    const parent = await makeParent()
    const made = Array.from({ length: 20 }, () => reconciled(parent.id))
    const { preview } = reconciled(parent.id)
    expect(preview).toMatchObject({ serviceId: null, problem: expect.stringContaining('The service has 20 previews') })
    await ask(`/v1/services/${parent.id}/previews/${made[0]?.preview.number}`, { method: 'DELETE' })
    reconcilePreviews(server.context, parent.id)
    expect(findPreview(server.db, preview)?.serviceId).not.toBeNull()
    await ask(`/v1/services/${parent.id}`, { method: 'DELETE' })
    for (const { service } of made) expect(serviceById(server.db, service?.id ?? '')?.deletedAt).not.toBeNull()
  })

  test('that somebody deletes as a service comes back with another commit, by the host name that it had', async () => {
    const workspaceId = await defaultWorkspaceId(server)
    const parent = await makeParent()
    const { service, preview } = reconciled(parent.id)
    await ask(`/v1/services/${service?.id}`, { method: 'DELETE' })
    reconcilePreviews(server.context, parent.id)
    expect(findPreview(server.db, preview)).toMatchObject({ serviceId: null, dismissedCommit: preview.headCommit })
    server.db.query('UPDATE previews SET head_commit = ? WHERE parent_id = ?').run('c'.repeat(40), parent.id)
    expect(reconcilePreviews(server.context, parent.id)).toBeGreaterThan(Date.now())
    expect(findPreview(server.db, preview)?.serviceId).toBeNull()
    removeServiceRow(server.db, service?.id ?? '')
    reconcilePreviews(server.context, parent.id)
    const again = findPreview(server.db, preview)?.serviceId ?? ''
    expect(findService(server.db, workspaceId, again)).toMatchObject({ name: service?.name, slug: service?.slug })
  })

  test('of another service is turned on for none that has no host name', async () => {
    const serviceDetails = { previews: { generation: 'automatic' } }
    const { status, body } = await ask('/v1/services', { json: { type: 'background_worker', name: 'worker', serviceDetails } })
    expect({ status, body }).toMatchObject({ status: 400, body: { message: 'A background_worker has no previews.' } })
  })
})

test('a repository that was renamed keeps its previews, and what people said of them', async () => {
  const parent = await makeParent()
  const { preview, service } = reconciled(parent.id, { isFork: true, headCommit: commit, approvedCommit: commit, commentId: '7' })
  const stored = serviceById(server.db, parent.id)
  if (stored === undefined) throw new Error('The parent is gone')
  server.db.transaction(() => followRename(server.context, stored, 'https://git.example.com/ada/store'))()
  reconcilePreviews(server.context, parent.id)
  expect(findPreview(server.db, preview)).toMatchObject({
    ...{ repository: 'git.example.com/ada/store', approvedCommit: commit, commentId: '7', deployedCommit: commit },
    serviceId: service?.id,
  })
})
