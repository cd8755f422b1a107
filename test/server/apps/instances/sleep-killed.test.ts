import { Database } from 'bun:sqlite'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ControlPlane, startControlPlane } from '../../../support/control-plane.ts'
import { makeService, serviceOf } from '../../../support/service.ts'
import { sleeperApp } from '../../../support/sleeper.ts'
import { until } from '../../../support/until.ts'

/** Longer than a control plane lives in these tests, where nothing is to fall asleep by itself. */
const LONG = 3600
const KILLS = 12

let plane: ControlPlane
const made: { id: string; name: string }[] = []
beforeAll(async () => {
  plane = await startControlPlane()
  for (const mode of ['freeze', 'stop']) {
    const name = `killed-${mode}`
    const service = await makeService(plane, { name, serviceDetails: { sleep: { mode, idleSeconds: LONG } } })
    await service.goLive('websocket-sse', sleeperApp)
    made.push({ id: service.id, name })
  }
})
afterAll(async () => {
  for (const one of made) await serviceOf(plane, one).ask('', { method: 'DELETE' })
  await until('all services are gone', () => readdirSync(join(plane.dataDir, 'services')).length === 0)
  await plane.close()
})

/** What a control plane that died in the middle of something left in the database. */
function change(sql: string, ...values: (string | number)[]): void {
  const db = new Database(join(plane.dataDir, 'db', 'control.db'), { strict: true })
  db.query(sql).run(...values)
  db.close()
}

const setIdleSeconds = (id: string, seconds: number) =>
  change("UPDATE services SET controls = json_set(controls, '$.sleep.idleSeconds', ?) WHERE id = ?", seconds, id)

describe.each(['freeze', 'stop'] as const)('a control plane that is killed around the sleep of a service (%s)', (mode) => {
  const self = () => {
    const one = made.find(({ name }) => name === `killed-${mode}`)
    if (one === undefined) throw new Error('It was not made')
    return one
  }
  const service = () => serviceOf(plane, self())
  const visit = () => plane.ingress.visit(`${self().name}.localhost`)
  const isAsleep = async () =>
    (await service().ask<{ serviceDetails: { asleepAt?: string } }>('')).body.serviceDetails.asleepAt !== undefined
  const isAtRest = async () => (await service().instances()).every(({ status }) => mode === 'freeze' && status === 'asleep')
  const answers = async () => expect(await visit()).toMatchObject({ status: 200, text: expect.stringContaining('sleeper 1') })

  async function startAgain(...changes: [string, ...(string | number)[]][]): Promise<void> {
    await plane.kill()
    for (const [sql, ...values] of changes) change(sql, ...values)
    await plane.start()
  }
  const asleepRow = (): [string, ...(string | number)[]] => [
    'UPDATE services SET asleep_at = ?, asleep_how = ? WHERE id = ?',
    Date.now(),
    mode,
    self().id,
  ]

  test('having only said that it is to sleep, has it sleep after the next start', async () => {
    await startAgain(asleepRow())
    await until('it sleeps', async () => (await isAsleep()) && (await isAtRest()))
    await answers()
    await service().settles('running')
  })

  test('having said that it wakes it, wakes it after the next start, asked or not', async () => {
    await startAgain(asleepRow())
    await until('it sleeps', async () => (await isAsleep()) && (await isAtRest()))
    await startAgain(['UPDATE services SET asleep_at = NULL, asleep_how = NULL, woken_at = ? WHERE id = ?', Date.now(), self().id])
    await service().settles('running')
    await answers()
  })

  test('leaves requests waiting, which are answered once it is back', async () => {
    await startAgain(asleepRow())
    await until('it sleeps', async () => (await isAsleep()) && (await isAtRest()))
    await plane.kill()
    const waiting = Array.from({ length: 20 }, visit)
    await Bun.sleep(300)
    await plane.start()
    for (const answer of await Promise.all(waiting))
      expect(answer).toMatchObject({ status: 200, text: expect.stringContaining('sleeper 1') })
  })

  test('again and again, at any moment of it, loses no request and comes to rest asleep', async () => {
    await plane.kill()
    setIdleSeconds(self().id, 1)
    await plane.start()
    for (let kill = 0; kill < KILLS; kill++) {
      await Bun.sleep(700 + 120 * kill)
      await plane.kill()
      const waiting = Array.from({ length: 5 }, visit)
      await plane.start()
      for (const answer of await Promise.all(waiting)) expect(answer, `kill ${kill}`).toMatchObject({ status: 200 })
    }
    await until('it sleeps', async () => (await isAsleep()) && (await isAtRest()))
    await answers()
    await plane.kill()
    setIdleSeconds(self().id, LONG)
    await plane.start()
    await service().settles('running')
  }, 240_000)
})

test('an instance that was only said to be frozen is frozen after the next start, and one that was only said to be awake is thawed', async () => {
  const frozen = made[0] ?? { id: '', name: '' }
  const service = () => serviceOf(plane, frozen)
  const statuses = async () => (await service().instances()).map(({ status }) => status)
  await plane.kill()
  change("UPDATE services SET asleep_at = ?, asleep_how = 'freeze' WHERE id = ?", Date.now(), frozen.id)
  change('UPDATE sets SET is_frozen = 1 WHERE owner_id = ?', frozen.id)
  change('UPDATE workloads SET frozen_at = ? WHERE owner_id = ?', Date.now(), frozen.id)
  await plane.start()
  expect(await statuses()).toEqual(['asleep'])
  await plane.kill()
  change('UPDATE services SET asleep_at = NULL, asleep_how = NULL WHERE id = ?', frozen.id)
  await plane.start()
  await until('it runs', async () => (await statuses()).join() === 'running')
  expect((await plane.ingress.visit(`${frozen.name}.localhost`)).status).toBe(200)
})
