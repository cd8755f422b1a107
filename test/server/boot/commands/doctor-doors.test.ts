import { afterAll, beforeAll, expect, test } from 'vitest'
import { doorLines, doorsHere } from '../../../../server/boot/commands/doctor-doors.ts'
import { readConfig } from '../../../../server/boot/settings/config.ts'
import { freePorts } from '../../../support/free-ports.ts'
import { type DatabaseWorld, startDatabaseWorld } from '../../ingress/databases/world.ts'

let world: DatabaseWorld
const other = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: (socket) => void socket.write('N') } })

beforeAll(async () => {
  world = await startDatabaseWorld()
})
afterAll(async () => {
  await world.close()
  other.stop(true)
})

const linesAt = async (postgres: number, keyValue: number) => {
  const env = { CP_INGRESS_POSTGRES: `0.0.0.0:${postgres}`, CP_INGRESS_KEY_VALUE: `127.0.0.1:${keyValue}` }
  return doorLines(await doorsHere(readConfig(env, {}, false)))
}

test('the doctor tells who answers at the ports of databases', async () => {
  const [free = 0] = freePorts(1)
  expect(await linesAt(world.postgresPort, world.keyValuePort)).toEqual([
    `  yes  CP_INGRESS_POSTGRES: the ingress answers at 0.0.0.0:${world.postgresPort}`,
    `  yes  CP_INGRESS_KEY_VALUE: the ingress answers at 127.0.0.1:${world.keyValuePort}`,
  ])
  const [taken, empty] = await linesAt(other.port, free)
  expect(taken).toContain('another program has')
  expect(empty).toContain('nobody answers')
  expect(await doorsHere(readConfig({}, {}, false))).toEqual([])
})
