import { afterAll, beforeAll, expect, test } from 'vitest'
import { handedOut, insertCredential } from '../../../../server/apps/datastores/credential-store.ts'
import { datastoreById } from '../../../../server/apps/datastores/store.ts'
import { touchedByDatastore } from '../../../../server/apps/env-groups/referring.ts'
import { inOneChange } from '../../../../server/platform/db/change.ts'
import type { KeyValueRotated } from '../../../../shared/key-value.ts'
import { call } from '../../../support/client.ts'
import { addDatastore } from '../../../support/datastores.ts'
import { type FakePlatform, startFakePlatform } from '../../../support/fake-platform.ts'
import { goLive, groupsOn, link, says, setOwn, speaking } from './group-world.ts'

let platform: FakePlatform
beforeAll(async () => {
  platform = await startFakePlatform({})
})
afterAll(() => platform.close())

test('a new user of a database touches those alone whose variables say how to connect, and deploys them when asked to', async () => {
  const { context } = platform
  const workspaceId = context.db.query<{ id: string }, []>('SELECT id FROM workspaces').get()?.id ?? ''
  const id = addDatastore(platform, { workspaceId, name: 'orders', isSuspended: true })
  const from = { fromDatabase: { name: 'orders', property: 'user' } }
  const [own, grouped, hosted, other] = [
    await speaking(platform, '$DB'),
    await speaking(platform, '$DB'),
    await speaking(platform, '$DB'),
    await speaking(platform, '$DB'),
  ]
  await own.ask('/env-vars/DB', { method: 'PUT', json: from })
  const group = await groupsOn(platform).group({})
  await group.put('/env-vars/DB', from)
  await link(grouped, group)
  await hosted.ask('/env-vars/DB', { method: 'PUT', json: { fromDatabase: { name: 'orders', property: 'host' } } })
  await setOwn(other, { DB: 'mine' })
  for (const service of [own, grouped, hosted, other]) await goLive(platform, service)
  expect(await says(platform, own)).toBe('app_user')

  insertCredential(context.db, context.sealer, { datastoreId: id, userName: 'next_user', password: 'p', createdAt: Date.now() + 1000 })
  const datastore = datastoreById(context.db, id)
  if (datastore === undefined) throw new Error('The database is gone')
  const touched = (isDeployed: boolean) => inOneChange(context.db, () => touchedByDatastore(context, datastore, { isDeployed }))
  expect(touched(false).map(({ name, envVars, deployId }) => [name, envVars, deployId])).toEqual(
    [own, grouped].map(({ name }) => [name, ['DB'], undefined]).toSorted(),
  )
  for (const { id: serviceId, deployId } of touched(true)) {
    const service = [own, grouped].find((one) => one.id === serviceId)
    expect(await service?.ends(deployId ?? '')).toMatchObject({ status: 'live' })
  }
  expect([await says(platform, own), await says(platform, grouped)]).toEqual(['next_user', 'next_user'])
  expect(touched(false)).toEqual([])
})

test('another password of a key-value store touches those that are told it, and reaches them by a deploy', async () => {
  const { context, url, adminToken: token } = platform
  const workspaceId = context.db.query<{ id: string }, []>('SELECT id FROM workspaces').get()?.id ?? ''
  const id = addDatastore(platform, { workspaceId, kind: 'key_value', name: 'sessions', isSuspended: true })
  const [told, hosted] = [await speaking(platform, '$KV'), await speaking(platform, '$KV')]
  await told.ask('/env-vars/KV', { method: 'PUT', json: { fromKeyValue: { name: 'sessions', property: 'password' } } })
  await hosted.ask('/env-vars/KV', { method: 'PUT', json: { fromKeyValue: { name: 'sessions', property: 'host' } } })
  for (const service of [told, hosted]) await goLive(platform, service)
  const rotate = async (query = '') =>
    (await call<KeyValueRotated>(`${url}/v1/key-value/${id}/credentials${query}`, { method: 'POST', token })).body
  const before = await says(platform, told)
  expect((await rotate()).touched).toEqual([{ id: told.id, name: told.name, envVars: ['KV'], secretFiles: [] }])
  expect(await says(platform, told)).toBe(before)
  const [deployed] = (await rotate('?deploy=true')).touched
  expect(await told.ends(deployed?.deployId ?? '')).toMatchObject({ status: 'live' })
  expect(await says(platform, told)).toBe(handedOut(context.db, context.sealer, id)?.password)
})
