import type { previewOperations } from '../../shared/operations/previews.ts'
import { call } from '../support/client.ts'
import { addRequest, anyRequest } from '../support/previews.ts'
import type { Prepare, SuccessCase } from './cases.ts'
import type { World } from './world.ts'

const send = (method: string, status: number, path: string, json?: unknown): SuccessCase => ({
  status,
  path,
  options: { method, ...(json === undefined ? {} : { json }) },
})

/** The path of a service that has previews, with one request from a fork. */
async function parentIn(world: World): Promise<string> {
  const repo = 'https://git.example.com/ada/shop'
  const id = await world.makeService({ repo, autoDeploy: 'no', serviceDetails: { previews: { generation: 'automatic' } } })
  addRequest(world.platform, id)
  return `/v1/services/${id}`
}

/** The path of one at the Gitea of the world, which has one open request. */
async function connectedParent(world: World): Promise<string> {
  const { platform } = world
  const ask = <T>(path: string, json: unknown) => call<T>(platform.url + path, { json, token: platform.adminToken })
  const { body } = await ask<{ url: string }>('/v1/gitea/installations', { token: 'token-of-a-person' })
  const previews = { generation: 'manual' }
  const id = await world.makeService({ repo: `${body.url}/ada/a`, branch: 'main', autoDeploy: 'no', serviceDetails: { previews } })
  return `/v1/services/${id}`
}

/** Cases of previews; what becomes of them, the tests of server/apps/previews show. */
export const previewCases: Record<keyof typeof previewOperations, Prepare> = {
  listPreviews: async (world) => [{ status: 200, path: `${await parentIn(world)}/previews` }],
  createPreview: async (world) => [send('POST', 200, `${await connectedParent(world)}/previews`, { number: 7 })],
  approvePreview: async (world) => [send('POST', 200, `${await parentIn(world)}/previews/1/approve`, { commitId: anyRequest.headCommit })],
  deletePreview: async (world) => [send('DELETE', 204, `${await parentIn(world)}/previews/1`)],
  listPreviewValues: async (world) => [{ status: 200, path: `${await parentIn(world)}/preview-values` }],
  setPreviewValue: async (world) => [send('PUT', 200, `${await parentIn(world)}/preview-values/STRIPE_KEY`, { value: 'sandbox' })],
  deletePreviewValue: async (world) => {
    const path = `${await parentIn(world)}/preview-values/STRIPE_KEY`
    await call(world.platform.url + path, { method: 'PUT', json: { value: 'x' }, token: world.platform.adminToken })
    return [send('DELETE', 204, path)]
  },
}
