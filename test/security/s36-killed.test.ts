import { afterAll, beforeAll, expect, test } from 'vitest'
import { call } from '../support/client.ts'
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts'

let plane: ControlPlane
beforeAll(async () => {
  plane = await startControlPlane()
})
afterAll(() => plane.close())

const keys = async (): Promise<string[]> =>
  (await call<{ name: string }[]>(`${plane.url}/v1/api-keys`, { token: plane.adminToken })).body.map(({ name }) => name)
const create = (name: string) =>
  call<{ id: string; secret: string }>(`${plane.url}/v1/api-keys`, {
    token: plane.adminToken,
    json: { name },
    headers: { 'idempotency-key': name },
  })

test('S36: a POST that is repeated after a kill at any moment is done once, and answered', async () => {
  for (let round = 0; round < 6; round++) {
    const name = `round-${round}`
    const first = create(name).catch(() => undefined)
    // Later in each round; the machine decides where in the request that is.
    await Bun.sleep(round)
    await plane.kill()
    const answered = await first
    await plane.start()
    const repeated = await create(name)
    expect(repeated.status).toBe(201)
    if (answered !== undefined) expect(repeated.body).toEqual(answered.body)
    expect((await keys()).filter((one) => one === name)).toHaveLength(1)
  }
})
