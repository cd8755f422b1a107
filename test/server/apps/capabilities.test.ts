import { afterAll, beforeAll, expect, test } from 'vitest'
import { hasSiblings } from '../../../server/apps/instances/siblings.ts'
import { sleepOf } from '../../../server/apps/instances/sleep.ts'
import { serviceById } from '../../../server/apps/services/store.ts'
import { requireOwnTerminals, shellTargetOf } from '../../../server/apps/shells/target.ts'
import { createFakeEngine } from '../../../server/engines/fake/engine.ts'
import { createFakeMachine } from '../../../server/engines/fake/machine.ts'
import type { Capabilities } from '../../../server/engines/port/port.ts'
import { call } from '../../support/client.ts'
import { startTestServer, type TestServer } from '../../support/server.ts'

const machine = createFakeMachine()
const engineWith = (capabilities: Partial<Capabilities>) => createFakeEngine(machine, { capabilities })

let able: TestServer
let unable: TestServer
beforeAll(async () => {
  able = await startTestServer({ parts: { engine: engineWith({}) } })
  unable = await startTestServer({ parts: { engine: engineWith({ freeze: false }) } })
})
afterAll(() => Promise.all([able.close(), unable.close()]))

interface Answer {
  service: { id: string }
  message: string
}

const create = ({ url, adminToken: token }: TestServer, name: string, mode: string) => {
  const serviceDetails = { envSpecificDetails: { startCommand: 'serve' }, sleep: { mode } }
  return call<Answer>(`${url}/v1/services`, { method: 'POST', token, json: { name, type: 'web_service', serviceDetails } })
}

const serviceOf = ({ db }: TestServer, id: string) => {
  const service = serviceById(db, id)
  if (service === undefined) throw new Error('It was not made')
  return service
}

test('an engine that freezes nothing has services that stop in their sleep, and none that is to be frozen', async () => {
  expect((await create(able, 'naps', 'freeze')).status).toBe(201)
  const refused = await create(unable, 'naps', 'freeze')
  expect(refused).toMatchObject({ status: 400, body: { message: expect.stringContaining('Let the service sleep with stop.') } })
  const { body } = await create(unable, 'rests', 'stop')
  const patched = await call<Answer>(`${unable.url}/v1/services/${body.service.id}`, {
    ...{ method: 'PATCH', token: unable.adminToken, json: { serviceDetails: { sleep: { mode: 'freeze' } } } },
  })
  expect(patched.status).toBe(400)
})

test('a service that was to be frozen is stopped where an engine came that cannot', async () => {
  const { body } = await create(able, 'moves', 'freeze')
  const service = serviceOf(able, body.service.id)
  expect(sleepOf(able.context, service).wanted).toBe('freeze')
  expect(sleepOf({ ...able.context, engine: engineWith({ freeze: false }) }, service).wanted).toBe('stop')
})

test('a shell is opened only where the engine opens terminals', async () => {
  const { body } = await create(able, 'looked-into', 'off')
  const service = serviceOf(able, body.service.id)
  const target = (terminals: Capabilities['terminals'], instanceId?: string) =>
    shellTargetOf({ db: able.db, engine: engineWith({ terminals }) }, service, instanceId)
  expect(() => target(['own'], 'srv-1')).toThrow('Leave the instance out.')
  expect(() => target(['joined'])).toThrow('have one run, and open a shell in it')
  expect(() => target([])).toThrow('No terminal can be opened where this server runs instances.')
  expect(() => target(['own'])).toThrow('Nothing of this service is live yet')
  expect(() => requireOwnTerminals({ terminals: ['own'] })).not.toThrow()
})

test('nobody asks an engine for siblings that it cannot see', async () => {
  machine.faults.inject('siblingConnections', { kind: 'refused' })
  expect(await hasSiblings(engineWith({ siblingConnections: false }), { id: 'srv-1', port: 1 })).toBe(false)
  await expect(hasSiblings(engineWith({}), { id: 'srv-1', port: 1 })).rejects.toThrow('refuses')
})
