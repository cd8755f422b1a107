import { expect, test } from 'vitest'
import { allOrders } from '../../../../server/edge/certificates/store/orders.ts'
import { startPebble } from '../../../support/pebble.ts'
import { until } from '../../../support/until.ts'
import { startEdge, startWorld } from './world.ts'

const COUNT = 200
const PLACES = 16

test('200 domains at once all get their certificates, a few at a time', async () => {
  const edge = startEdge()
  const pebble = await startPebble({ httpPort: edge.port, retryAfterSeconds: 1 })
  const world = await startWorld(pebble, edge, { options: { places: PLACES } })
  const names = Array.from({ length: COUNT }, (_, index) => `host-${index}.shop.example`)
  world.add(...names)
  await until('all are issued', () => names.every((name) => world.status(name).status === 'issued'), 240_000)
  await until('all are served', () => edge.table.certificates.length === COUNT + 1)
  expect(allOrders(world.context.db)).toEqual([])
  expect(Math.max(...edge.tables.map(({ challenges }) => challenges.length))).toBeLessThanOrEqual(PLACES)
  expect((await world.events()).every(({ type }) => type === 'certificate_issued')).toBe(true)
  await world.close()
  await pebble.close()
  edge.close()
}, 300_000)
