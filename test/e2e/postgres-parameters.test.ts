import { afterAll, beforeAll, expect, test } from 'vitest'
import { datastoreById } from '../../server/apps/datastores/store.ts'
import type { Event } from '../../shared/event.ts'
import type { Postgres } from '../../shared/postgres.ts'
import { call } from '../support/client.ts'
import { type Platform, startPlatform } from '../support/platform.ts'
import { until } from '../support/until.ts'

const SLOW_MS = 120_000
/** Larger than any machine of a small team: the server ends at once for want of memory. */
const TOO_MUCH = '65536MB'

let platform: Platform
beforeAll(async () => {
  platform = await startPlatform()
}, SLOW_MS)
afterAll(() => platform.close())

const asAdmin = () => ({ token: platform.adminToken })

async function isAvailable(id: string, more: (database: Postgres) => boolean): Promise<Postgres> {
  const path = `${platform.url}/v1/postgres/${id}`
  return await until(
    'the database is available',
    async () => {
      const { body } = await call<Postgres>(path, asAdmin())
      return body.status === 'available' && more(body) && body
    },
    SLOW_MS,
  )
}

test(
  'parameters with which a server does not come up are taken back, told by name, and the database comes up',
  async () => {
    const json = { name: 'shop', parameterOverrides: { work_mem: '5MB' } }
    const { id } = (await call<Postgres>(`${platform.url}/v1/postgres`, { ...asAdmin(), json })).body
    const path = `${platform.url}/v1/postgres/${id}`
    await isAvailable(id, () => true)
    const changed = { work_mem: '5MB', shared_buffers: TOO_MUCH }
    await call(path, { ...asAdmin(), method: 'PATCH', json: { parameterOverrides: changed } })
    const back = await isAvailable(id, ({ parameterOverrides }) => parameterOverrides?.shared_buffers === undefined)
    expect(back.parameterOverrides).toEqual({ work_mem: '5MB' })
    await until('nothing is said to be wrong', () => datastoreById(platform.db, id)?.problem === null)
    const { body } = await call<{ event: Event }[]>(`${path}/events?type=postgres_parameters_reverted`, asAdmin())
    expect(body.map(({ event }) => event.details)).toMatchObject([
      {
        parameters: ['shared_buffers'],
        from: changed,
        to: { work_mem: '5MB' },
        reason: expect.stringContaining(`shared_buffers = ${TOO_MUCH}`),
      },
    ])
  },
  2 * SLOW_MS,
)
