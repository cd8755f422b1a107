import { appendFileSync, statSync, truncateSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { pathOfObject, storeObject } from '../../../../server/apps/backups/repository/repository.ts'
import { objectsOf } from '../../../../server/apps/backups/rows/object-store.ts'
import { backupSetOf } from '../../../../server/apps/backups/rows/set-store.ts'
import { DAY_MS } from '../../../../server/apps/backups/rules/schedule.ts'
import { requestBackup } from '../../../../server/apps/backups/work/take-next.ts'
import { keyValueById } from '../../../../server/apps/key-value/store.ts'
import type { Backup } from '../../../../shared/backup.ts'
import type { Event } from '../../../../shared/event.ts'
import type { KeyValue } from '../../../../shared/key-value.ts'
import { processOf } from '../../../support/instance-process.ts'
import { makeStore, storeOf, type TestStore } from '../../../support/key-value.ts'
import { type Platform, startPlatform } from '../../../support/platform.ts'
import { until } from '../../../support/until.ts'

/** Backups of key-value stores that really run, and what is made of them. */

let platform: Platform
beforeAll(async () => {
  platform = await startPlatform()
})
afterAll(() => platform.close())

const backupsOf = async (store: TestStore): Promise<Backup[]> =>
  (await store.request<{ backup: Backup }[]>('GET', '/backups')).body.map(({ backup }) => backup)

const eventsOf = async (store: TestStore, type: string): Promise<Event['details'][]> =>
  (await store.request<{ event: Event }[]>('GET', `/events?type=${type}`)).body.map(({ event }) => event.details)

async function backUp(store: TestStore): Promise<Backup> {
  const { status, body } = await store.request<Backup>('POST', '/backups')
  expect({ status, body }).toMatchObject({ status: 201, body: { kind: 'full', origin: 'manual', status: 'creating' } })
  return await until('the backup is verified', async () =>
    (await backupsOf(store)).find(({ id, verifiedAt }) => id === body.id && verifiedAt !== undefined),
  )
}

async function recover(store: TestStore, json: Record<string, unknown> = {}): Promise<TestStore> {
  const { status, body } = await store.request<KeyValue>('POST', '/recovery', json)
  expect({ status, body }).toMatchObject({ status: 201, body: { status: 'recovery_in_progress' } })
  const made = storeOf(platform, body.id)
  await made.isAvailable()
  return made
}

async function startedStore(json: Record<string, unknown>): Promise<TestStore> {
  const store = await makeStore(platform, json)
  await store.isAvailable()
  await until('it can be backed up', () => backupSetOf(platform.db, store.id) !== undefined)
  return store
}

test('a backup holds what the store held then, and a new store is made of it that keeps what it is told', async () => {
  const store = await startedStore({ name: 'orders', maxmemoryPolicy: 'noeviction' })
  using client = await store.connect()
  for (let index = 0; index < 500; index++) await client.send('SET', `key:${index}`, 'x'.repeat(index))
  await client.send('SET', 'passing', 'soon', 'EX', '100000')
  await client.send('RPUSH', 'list', 'a', 'b', 'c')
  await client.send('FUNCTION', 'LOAD', "#!lua name=own\nredis.register_function('hello', function() return 'hello' end)")
  const backup = await backUp(store)
  expect(backup).toMatchObject({ status: 'available', sizeBytes: expect.any(Number), completedAt: expect.any(String) })
  await client.send('SET', 'later', 'lost')

  const made = await recover(store, { name: 'orders-before' })
  expect(await made.get()).toMatchObject({
    name: 'orders-before',
    options: { maxmemoryPolicy: 'noeviction', persistenceMode: 'journal_snapshot' },
  })
  expect(await made.password()).not.toBe(await store.password())
  using other = await made.connect()
  expect(await other.send('DBSIZE')).toBe(502)
  expect(await other.send('STRLEN', 'key:499')).toBe(499)
  expect(await other.send('LRANGE', 'list', '0', '-1')).toEqual(['a', 'b', 'c'])
  expect(Number(await other.send('TTL', 'passing'))).toBeGreaterThan(90_000)
  expect(await other.send('FCALL', 'hello', '0')).toBe('hello')
  expect(await client.send('GET', 'later')).toBe('lost')
  expect(await eventsOf(made, 'key_value_restore_succeeded')).toMatchObject([{ from: store.id, backupId: backup.id }])

  await until('it journals', () => keyValueById(platform.db, made.id)?.laid === 'journal_snapshot')
  await other.send('SET', 'new', 'kept')
  expect(await other.send('WAITAOF', '1', '0', '0')).toEqual([1, 0])
  await killServer(made)
  using after = await until('it is back', () => made.connect().catch(() => undefined))
  expect(await after.send('DBSIZE')).toBe(503)
})

async function killServer({ id }: TestStore): Promise<void> {
  const query = "SELECT id FROM workloads WHERE owner_id = ? AND phase = 'running'"
  const running = platform.db.query<{ id: string }, [string]>(query).get(id)
  process.kill(processOf(platform.context.paths, running?.id ?? '').pid, 'SIGKILL')
  await until('its end was seen', async () => (await storeOf(platform, id).get()).status !== 'available')
  await storeOf(platform, id).isAvailable()
}

test('what a deleted store held last can be recovered by its id, and what was to be kept nowhere cannot', async () => {
  const [store, fleeting] = await Promise.all([
    startedStore({ name: 'leaving', persistenceMode: 'snapshot' }),
    startedStore({ name: 'fleeting', persistenceMode: 'off' }),
  ])
  using client = await store.connect()
  await client.send('SET', 'last', 'words')
  for (const one of [store, fleeting]) expect((await one.request('DELETE')).status).toBe(204)
  const final = await until('the last backup is there', async () => (await backupsOf(store)).find(({ status }) => status === 'available'))
  expect(final.origin).toBe('final')
  const made = await recover(store)
  expect(await made.get()).toMatchObject({ name: 'leaving-recovered', options: { persistenceMode: 'snapshot' } })
  using other = await made.connect()
  expect(await other.send('GET', 'last')).toBe('words')
  expect(await backupsOf(fleeting)).toEqual([])
  expect((await fleeting.request('POST', '/recovery')).status).toBe(409)
})

test('what a kill left half made is made anew, and nothing of it stays', async () => {
  const store = await startedStore({ name: 'interrupted' })
  using client = await store.connect()
  await client.send('SET', 'key', 'value')
  // A kill between the file and the row that says that it is whole leaves this.
  const { id } = requestBackup(platform.context, store.id, { due: { kind: 'full' }, origin: 'manual' })
  const deps = { ...platform.context, bucket: undefined }
  await storeObject(deps, { datastoreId: store.id, name: `${id}/dump.rdb` }, [Buffer.from('half')])
  platform.context.work.poke('datastore', store.id)
  await until('it is verified', async () => (await backupsOf(store)).some((backup) => backup.id === id && backup.verifiedAt !== undefined))
  expect(objectsOf(platform.db, store.id).map(({ name }) => name)).toEqual([`${id}/dump.rdb`])

  // A kill in the middle of the last backup of a store that goes leaves this.
  const begun = requestBackup(platform.context, store.id, { due: { kind: 'full' }, origin: 'final' })
  await client.send('SET', 'key', 'last')
  platform.db.query("UPDATE datastores SET phase = 'deleting' WHERE id = ?").run(store.id)
  platform.context.work.poke('datastore', store.id)
  await until('the last backup is whole', async () => (await backupsOf(store)).find((one) => one.id === begun.id)?.status === 'available')
  expect(await backupsOf(store)).toHaveLength(2)
  using recovered = await (await recover(store)).connect()
  expect(await recovered.send('GET', 'key')).toBe('last')
})

test('a backup is tried out when it is due, and damage is found and replaced', async () => {
  const store = await startedStore({ name: 'tried' })
  using client = await store.connect()
  for (let index = 0; index < 20; index++) await client.send('SET', `key:${index}`, 'value')
  const { id } = await backUp(store)
  platform.db.query('UPDATE backups SET completed_at = completed_at - ? WHERE id = ?').run(2 * DAY_MS, id)
  platform.context.work.poke('datastore', store.id)
  const tried = await until('it was tried out', async () =>
    (await eventsOf(store, 'key_value_backup_verified')).find(({ restored }) => restored),
  )
  expect(tried).toMatchObject({ backupId: id, keys: 20, expired: 0, durationMs: expect.any(Number) })
  await until('nothing is left of it', () => backupSetOf(platform.db, store.id)?.drill === null)

  damage(store)
  platform.db.query('UPDATE backups SET verified_at = NULL WHERE id = ?').run(id)
  platform.context.work.poke('datastore', store.id)
  await until('the damage was seen', async () => (await backupsOf(store)).some((backup) => backup.id === id && backup.status === 'damaged'))
  const another = await until('there is another', async () => (await backupsOf(store)).find(({ status }) => status === 'available'))
  expect(another.origin).toBe('scheduled')
  expect((await store.request('POST', '/recovery', { backupId: id })).status).toBe(400)
})

/** Cuts the packed file, and fills it up to its size. */
function damage({ id }: TestStore): void {
  const [object] = objectsOf(platform.db, id)
  if (object === undefined) throw new Error('There is nothing to damage')
  const path = pathOfObject(platform.context, object)
  const { size } = statSync(path)
  truncateSync(path, size - 20)
  appendFileSync(path, Buffer.alloc(20, 7))
}
