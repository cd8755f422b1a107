import { expect, test } from 'vitest'
import { listed } from '../../../../server/ingress/databases/admission.ts'
import { readFirstPacket } from '../../../../server/ingress/postgres/first-packet.ts'
import { invited, plainAnswer } from '../../../../server/ingress/postgres/invitation.ts'
import type { DatabaseRoute } from '../../../../server/ingress/tables/database-route.ts'
import { packet, startup } from '../databases/packets.ts'
import { PG_HOST, PG_ID, postgresAt } from '../databases/world.ts'

function answer(bytes: Buffer, changes: Partial<DatabaseRoute> = {}, name: string | null = PG_HOST, address = '127.0.0.1') {
  const find = (host: string) => (host === PG_HOST ? listed(PG_ID, postgresAt(5000, changes)) : undefined)
  const invitation = invited(readFirstPacket(bytes), { serverName: name ?? undefined, address, find })
  return 'fatal' in invitation ? `${invitation.fatal.state} ${invitation.fatal.message}` : `${invitation.id} ${invitation.target.port}`
}

const ada = startup({ user: 'ada', database: 'shop' })

test('who names a database that runs is brought there', () => {
  expect(answer(ada)).toBe(`${PG_ID} 5000`)
  expect(answer(ada, {}, `${PG_HOST.toUpperCase()}.`)).toBe(`${PG_ID} 5000`)
  expect(answer(startup({ user: 'ada', replication: 'false' }))).toBe(`${PG_ID} 5000`)
})

test.each([
  ['08P01 no host name was given in TLS', answer(ada, {}, null)],
  ['3D000 there is no database at other.test', answer(ada, {}, 'other.test')],
  ['28000 connections from 10.1.2.3 are not allowed', answer(ada, { state: 'suspended' }, PG_HOST, '10.1.2.3')],
  ['28000 connections from 127.0.0.1 are not allowed', answer(ada, { allow: [] })],
  ['57P03 the database orders is suspended', answer(ada, { state: 'suspended', targets: [] })],
  ['57P03 the database orders is starting up', answer(ada, { state: 'unavailable', targets: [] })],
  ['28000 no PostgreSQL user name', answer(startup({ database: 'shop' }))],
  ['28000 role "cpd_admin" is', answer(startup({ user: 'cpd_admin' }))],
  ['0A000 replication', answer(startup({ user: 'ada', replication: 'database' }))],
  ['0A000 unsupported frontend protocol', answer(startup({ user: 'ada' }, 2 << 16))],
  ['08P01 invalid startup packet', answer(packet(80_877_103))],
])('%s', (expected, actual) => {
  expect(actual).toContain(expected)
})

test('of several users none may be the own', () => {
  const twice = Buffer.from('user\0cpd_backup\0user\0ada\0\0')
  expect(answer(packet(3 << 16, twice))).toContain('cpd_backup')
})

test('in clear nobody begins a session', () => {
  expect(plainAnswer('startup').message).toBe('SSL is required')
})
