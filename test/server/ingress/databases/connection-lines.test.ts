import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type ConnectionRecord, connectionRecord, parseConnectionRecord } from '../../../../server/ingress/traffic/connection-record.ts'
import { requestLine } from '../../../../server/telemetry/traffic/request-line.ts'
import { eventually } from '../world.ts'
import { beginPostgres } from './conversation.ts'
import { greeting, READY, startFakePostgres } from './fake-postgres.ts'
import { message } from './packets.ts'
import { PG_ID, postgresAt, startDatabaseWorld } from './world.ts'

const record: ConnectionRecord = {
  ...{ at: 1_700_000_000_000, id: PG_ID, instanceId: `${PG_ID}-00000`, event: 'closed', address: '2001:db8::1', about: 'as ada to shop' },
  ...{ durationMs: 3210, receivedBytes: 120, sentBytes: 3400 },
}

test('a line is read as it was written, and never when it was cut short', () => {
  const line = connectionRecord(record)
  expect(parseConnectionRecord(line.trimEnd())).toEqual(record)
  for (let length = 0; length < line.length - 2; length++) expect(parseConnectionRecord(line.slice(0, length))).toBeUndefined()
})

test('a name that would be a line or field of its own is written in another way', () => {
  const about = 'as a\tb\n"c" to \\x'
  const line = connectionRecord({ ...record, about })
  expect(line.split('\n')).toHaveLength(2)
  expect(parseConnectionRecord(line.trimEnd())?.about).toBe('as a\\x09b\\x0A\\x22c\\x22 to \\x5Cx')
})

test.each([
  ['opened', 'info', 'connection from 2001:db8::1 as ada to shop opened'],
  ['closed', 'info', 'connection from 2001:db8::1 as ada to shop closed after 3.2 s, 120 bytes received, 3400 sent'],
  ['refused', 'warning', 'connection from 2001:db8::1 refused: as ada to shop'],
] as const)('%s is told under the id of the database', (event, level, words) => {
  const line = requestLine(connectionRecord({ ...record, event }).trimEnd())
  expect(line).toMatchObject({ resource: PG_ID, type: 'app', level, message: words, timestampMs: record.at })
})

test('who comes and goes is written down with the address of the client, and counted', async () => {
  const database = startFakePostgres()
  const world = await startDatabaseWorld({}, { accessLog: 'access' })
  try {
    await world.list({ [PG_ID]: postgresAt(database.port) })
    const client = await beginPostgres(world)
    await client.hears((text) => text.length >= greeting.length)
    client.say(message('Q', 'SELECT 1\0'))
    await client.hears((text) => text.length >= greeting.length + READY.length)
    const open = (await world.client.counters()).entries.find(({ serviceId }) => serviceId === PG_ID)
    expect(open).toMatchObject({ instanceId: `i-${database.port}`, tunnels: 1, byClass: [0, 1, 0, 0, 0, 0] })
    expect(open?.receivedBytes).toBeGreaterThan(20)
    expect(open?.sentBytes).toBe(greeting.length + READY.length)
    client.socket.destroy()
    for (let knock = 0; knock < 5; knock++) await (await beginPostgres(world, { parameters: { user: 'cpd_admin' } })).ended
    const lines = () => {
      const dir = join(world.dir, 'access')
      const files = existsSync(dir) ? readdirSync(dir).map((name) => readFileSync(join(dir, name), 'utf8')) : []
      return files
        .join('')
        .split('\n')
        .map((line) => requestLine(line)?.message ?? '')
    }
    await eventually(() => lines().filter((line) => line !== '').length === 3)
    expect(lines()[0]).toBe('connection from 127.0.0.1 as ada to shop opened')
    expect(lines().join('\n')).toMatch(/refused: role .*cpd_admin/)
    expect(lines().join('\n')).toMatch(/closed after [\d.]+ s, \d+ bytes received, \d+ sent/)
  } finally {
    await world.close()
    database.stop()
  }
})
