import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fitsMachine, largestFitting } from '../../../../server/apps/services/plan-fit.ts'
import { plans } from '../../../../shared/plan.ts'
import { expectError } from '../../../conformance/expect-error.ts'
import { call } from '../../../support/client.ts'
import { startTestServer, type TestServer } from '../../../support/server.ts'

const GIB = 1024 ** 3
const small = { cpu: 2, memoryBytes: 3.8 * GIB }

test('a machine sold with as much memory as the plan has room for it, though the kernel keeps some', () => {
  expect(fitsMachine(small, plans.pro)).toBe(true)
  expect(fitsMachine({ ...small, cpu: 1 }, plans.pro)).toBe(false)
  expect(fitsMachine(small, plans.pro_plus)).toBe(false)
})

test('the largest plan that fits is named; the smallest where none does', () => {
  expect(largestFitting(small, plans)).toBe('pro')
  expect(largestFitting({ cpu: 0.05, memoryBytes: 1 }, plans)).toBe('free')
})

describe('on a machine of 2 cores and 3.8 GB', () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startTestServer({ parts: { machine: small } })
  })
  afterAll(() => server.close())

  const send = (method: string, path: string, json: unknown) =>
    call<{ service: { id: string } }>(`${server.url}/v1/services${path}`, { method, json, token: server.adminToken })
  const create = (name: string, serviceDetails: Record<string, unknown>) => send('POST', '', { type: 'web_service', name, serviceDetails })

  test('a service whose plan is larger is refused, naming plan, machine and what fits', async () => {
    const { message } = expectError(await create('large', { plan: 'pro_max' }), 'validation_failed')
    expect(message).toBe(
      'The plan pro_max is 4 CPU and 16 GB, and this machine has 2 CPU and 3.8 GB. Choose pro (2 CPU and 4 GB) or a smaller one, or move to a larger machine.',
    )
  })

  test('a build plan that is larger is refused, and the default one is not', async () => {
    expectError(await create('builder', { buildPlan: 'performance' }), 'validation_failed')
    expect((await create('by default', {})).status).toBe(201)
  })

  test('a change to a larger plan is refused and nothing else of the change is made', async () => {
    const { body } = await create('grows', { plan: 'pro' })
    const reply = await send('PATCH', `/${body.service.id}`, { name: 'renamed', serviceDetails: { plan: 'pro_plus' } })
    expectError(reply, 'validation_failed')
    expect(server.db.query('SELECT name FROM services WHERE id = ?').get(body.service.id)).toEqual({ name: 'grows' })
  })

  test('a service that came from a larger machine keeps its plan through changes of other settings', async () => {
    const { body } = await create('moved', { plan: 'pro' })
    server.db.query(`UPDATE services SET settings = json_set(settings, '$.plan', 'pro_ultra') WHERE id = ?`).run(body.service.id)
    const reply = await send('PATCH', `/${body.service.id}`, { serviceDetails: { plan: 'pro_ultra', numInstances: 2 } })
    expect(reply.status).toBe(200)
  })
})
