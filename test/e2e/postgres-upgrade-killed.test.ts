import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Postgres } from '../../shared/postgres.ts'
import { call } from '../support/client.ts'
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts'
import { until } from '../support/until.ts'

const FORMER = '/usr/lib/postgresql/15'
const LONG_MS = 120_000

describe('an upgrade', () => {
  let plane: ControlPlane
  beforeAll(async () => {
    plane = await startControlPlane({ CP_POSTGRES_DIR: FORMER })
  }, LONG_MS)
  afterAll(() => plane.close(), LONG_MS)

  const ask = async <T>(path: string, options: { method?: string; json?: unknown } = {}): Promise<T> =>
    (await call<T>(`${plane.url}/v1/postgres${path}`, { token: plane.adminToken, ...options })).body

  it('goes on wherever its control plane was killed', async () => {
    const { id } = await ask<Postgres>('', { json: { name: 'shop', version: '15' } })
    const get = () => ask<Postgres>(`/${id}`)
    await until('it is available', async () => (await get()).status === 'available', LONG_MS)
    await ask(`/${id}`, { method: 'PATCH', json: { version: '18' } })
    const killed: string[] = []
    while ((await get()).upgrade?.status === 'in_progress') {
      const step = (await get()).upgrade?.step ?? ''
      if (killed.includes(step)) continue
      killed.push(step)
      await plane.kill()
      await plane.start()
    }
    expect(killed.length, killed.join()).toBeGreaterThan(2)
    expect(killed).toContain('linking')
    expect((await get()).upgrade).toMatchObject({ status: 'succeeded' })
    await until('it is available', async () => (await get()).status === 'available', LONG_MS)
    expect(await get()).toMatchObject({ version: '18' })

    await ask(`/${id}/rollback`, { method: 'POST' })
    await plane.kill()
    await plane.start()
    await until('it is taken back', async () => (await get()).upgrade?.status === 'rolled_back', LONG_MS)
    await until('it is available', async () => (await get()).status === 'available', LONG_MS)
    expect(await get()).toMatchObject({ version: '15' })
  }, 400_000)
})
