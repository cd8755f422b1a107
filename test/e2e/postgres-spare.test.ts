import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { endpointOf } from '../../server/apps/datastores/endpoint.ts'
import { datastoreById } from '../../server/apps/datastores/store.ts'
import { asAdmin, ownOf } from '../../server/apps/postgres/session.ts'
import { allSpares, insertSpare, type StoredSpare, setSpareReady } from '../../server/apps/postgres/spare-store.ts'
import { sweepFolders } from '../../server/boot/serve/sweep-folders.ts'
import type { Postgres } from '../../shared/postgres.ts'
import { call } from '../support/client.ts'
import { hurryClock } from '../support/hurried-clock.ts'
import { type Platform, startPlatform } from '../support/platform.ts'
import { until } from '../support/until.ts'

let platform: Platform
let first: Postgres
beforeAll(async () => {
  platform = await startPlatform({}, { clock: hurryClock(20) })
  first = await create({ name: 'first' })
}, 60_000)
afterAll(() => platform.close())

const LONG_MS = 60_000

const ask = async <T>(path: string, json?: unknown): Promise<T> =>
  (await call<T>(`${platform.url}/v1/postgres${path}`, { token: platform.adminToken, ...(json !== undefined && { json }) })).body

async function create(wanted: Record<string, unknown>): Promise<Postgres> {
  const { id } = await ask<Postgres>('', wanted)
  return await until('it is available', async () => {
    const found = await ask<Postgres>(`/${id}`)
    return found.status === 'available' && found
  })
}

const spareIsReady = (): Promise<StoredSpare> =>
  until('a spare is ready', () => allSpares(platform.db).find(({ phase }) => phase === 'ready'), LONG_MS)

function systemOf({ id }: Postgres): Promise<unknown> {
  const endpoint = endpointOf(platform.context, { id })
  if (endpoint === undefined) throw new Error(`${id} does not run`)
  const { databaseName: database } = ownOf(platform.context, { id })
  return asAdmin(platform.context, { id, endpoint, database }, async (sql) => {
    await sql.run('SELECT count(*) FROM public.pg_stat_statements')
    return (await sql.run('SELECT system_identifier::text AS id FROM pg_control_system()'))[0]?.id
  })
}

test('a database adopts the spare with all that is in it, at its own size, and another spare is made', async () => {
  const spare = await spareIsReady()
  await sweepFolders(platform.context)
  expect(await platform.context.engine.volumes.list()).toContain(spare.volumeId)
  expect(existsSync(join(platform.dataDir, 'services', spare.volumeId))).toBe(false)

  const second = await create({ name: 'second', diskSizeGB: 2, databaseName: 'own_name', databaseUser: 'own_user' })
  expect(second).toMatchObject({ databaseName: 'own_name', databaseUser: 'own_user', diskSizeGB: 2 })
  expect(datastoreById(platform.db, second.id)).toMatchObject({ volumeId: spare.volumeId, number: spare.number })
  expect(await systemOf(second)).not.toBe(await systemOf(first))
  const { volumeId } = await spareIsReady()
  expect(volumeId).not.toBe(spare.volumeId)
}, 120_000)

test('one that was not finished, and one of other programs, are thrown away and replaced', async () => {
  const kept = await spareIsReady()
  const { volumes } = platform.context.engine
  const old = { ...kept, volumeId: `${kept.volumeId.slice(0, -2)}00`, number: kept.number + 5000, program: 'postgres-of-before' }
  const begun = { ...kept, volumeId: `${kept.volumeId.slice(0, -2)}01`, number: kept.number + 5001 }
  for (const { phase: _, ...spare } of [old, begun]) {
    insertSpare(platform.db, spare)
    await volumes.make({ id: spare.volumeId, kind: spare.volumeKind, sizeGb: 1, owner: { id: spare.volumeId, number: spare.number } })
  }
  setSpareReady(platform.db, old.volumeId)
  platform.context.work.poke('datastore', first.id)
  await until('they are gone', () => allSpares(platform.db).length === 1)
  expect(allSpares(platform.db)).toEqual([kept])
  const left = await volumes.list()
  expect(left).not.toContain(old.volumeId)
  expect(left).not.toContain(begun.volumeId)
})

test('a volume that a list of before calls spare gives nobody what another has in it', async () => {
  const { phase: _, ...spare } = await spareIsReady()
  const third = await create({ name: 'third' })
  platform.db.run("UPDATE datastores SET number = number + 6000, volume_id = 'dsk-none' WHERE id = ?", [third.id])
  insertSpare(platform.db, spare)
  setSpareReady(platform.db, spare.volumeId)
  const { id } = await ask<Postgres>('', { name: 'fourth' })
  expect(datastoreById(platform.db, id)).toMatchObject({ volumeId: spare.volumeId })
  const logs = `${platform.url}/v1/logs?ownerId=${third.owner.id}&resource=${id}&text=disk`
  await until('it is refused', async () => {
    const { body } = await call<{ logs: { message: string }[] }>(logs, { token: platform.adminToken })
    return body.logs.some(({ message }) => message.includes(`This disk is that of ${third.id}`))
  })
  expect((await ask<Postgres>(`/${id}`)).status).not.toBe('available')
}, 120_000)
