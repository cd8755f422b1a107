import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Backup } from '../../shared/backup.ts'
import type { KeyValue } from '../../shared/key-value.ts'
import type { Postgres } from '../../shared/postgres.ts'
import { type Random, randomFrom } from '../server/ingress/random.ts'
import { copyApp } from '../support/app-folder.ts'
import { type Compiled, startCompiled } from '../support/compiled.ts'
import { commandLine, processesOf } from '../support/leftovers.ts'
import { pgbouncer } from '../support/pgbouncer.ts'
import { until } from '../support/until.ts'
import { BACK_MS, lostOf, prepareLedger, STORES, type Store, writeThroughApp } from './datastores/ledger.ts'
import { type Outcome, progress, secondsSince } from './outcome.ts'

const WRITERS = 2
const LONG_MS = 180_000

interface World {
  cpd: Compiled
  db: string
  cache: string
  /** Ends the control plane at a random moment from now on, and starts another. */
  kill(mostMs: number): Promise<void>
}

interface Step {
  name: string
  run(world: World): Promise<string>
}

/** What is done to databases and stores step by step, with a `kill -9` of the control plane in its middle: nothing is lost, doubled, stuck or left. */
export async function datastoreSteps({ kills, seed, only }: { kills: number; seed: number; only: readonly string[] }): Promise<Outcome> {
  const startedAt = performance.now()
  const random = randomFrom(seed)
  const cpd = await startCompiled({ env: { CP_PGBOUNCER_PROGRAM: pgbouncer } })
  const app = copyApp('ledger')
  const stopping = new AbortController()
  const chosen = steps.filter(({ name }) => only.length === 0 || only.includes(name))
  const failures: string[] = []
  const told = new Map<string, number>()
  try {
    const world = await prepare(cpd, app.dir, random)
    const acknowledged: Record<Store, Set<number>> = { pg: new Set(), kv: new Set() }
    const writers = STORES.flatMap((store) =>
      Array.from({ length: WRITERS }, (_, index) =>
        writeThroughApp(cpd, { store, acknowledged: acknowledged[store], index, signal: stopping.signal }),
      ),
    )
    for (let kill = 0; kill < kills; kill++) {
      const step = chosen[kill % chosen.length]
      if (step === undefined) break
      const began = performance.now()
      const outcome = await step.run(world)
      told.set(outcome, (told.get(outcome) ?? 0) + 1)
      await bothTake(acknowledged)
      failures.push(...(await doubled(world)).map((what) => `after kill ${kill + 1} (${step.name}): ${what}`))
      progress(
        `kill ${kill + 1}/${kills}: ${outcome} in ${secondsSince(began)} s; ${acknowledged.pg.size} rows, ${acknowledged.kv.size} keys`,
      )
    }
    stopping.abort()
    await Promise.all(writers)
    failures.push(...(await Promise.all(STORES.map((store) => lostOf(cpd, store, acknowledged[store])))).flat(), ...(await left(world)))
    const counts = [...told].map(([outcome, times]) => `${outcome} ${times}`).join(', ')
    const summary = `${kills} kills in ${secondsSince(startedAt)} s (${counts}): ${acknowledged.pg.size} rows and ${acknowledged.kv.size} keys acknowledged, ${failures.length} failures`
    return { summary, failures }
  } finally {
    stopping.abort()
    app.remove()
    await cpd.stop()
  }
}

async function prepare(cpd: Compiled, dir: string, random: Random): Promise<World> {
  await prepareLedger(cpd, dir)
  const { body: databases } = await cpd.api<{ postgres: Postgres }[]>('/postgres')
  const { body: stores } = await cpd.api<{ keyValue: KeyValue }[]>('/key-value')
  const [db, cache] = [databases[0]?.postgres.id ?? '', stores[0]?.keyValue.id ?? '']
  await cpd.api(`/postgres/${db}`, { method: 'PATCH', json: { enableHighAvailability: true } })
  return {
    ...{ cpd, db, cache },
    async kill(mostMs) {
      await Bun.sleep(random(mostMs))
      await cpd.kill9()
      await cpd.start()
    },
  }
}

const databaseOf = async ({ cpd }: World, id: string): Promise<Postgres> => (await cpd.api<Postgres>(`/postgres/${id}`)).body
const isAvailable = (world: World, id: string): Promise<Postgres> =>
  until(
    `${id} is available`,
    async () => {
      const database = await databaseOf(world, id)
      return database.status === 'available' && database
    },
    LONG_MS,
  )

async function leadersOf({ cpd, db }: World, type: string): Promise<number> {
  const { body } = await cpd.api<unknown[]>(`/postgres/${db}/events?type=${type}&limit=100`)
  return body.length
}

async function failover(world: World): Promise<string> {
  const { cpd, db } = world
  const before = await leadersOf(world, 'postgres_cluster_leader_changed')
  await until('the standby is in step', async () => (await cpd.api(`/postgres/${db}/failover`, { method: 'POST' })).status === 202, LONG_MS)
  await world.kill(1500)
  await isAvailable(world, db)
  return (await leadersOf(world, 'postgres_cluster_leader_changed')) > before ? 'failed over' : 'failover given up'
}

async function grow(world: World): Promise<string> {
  const { cpd, db } = world
  const diskSizeGB = (await databaseOf(world, db)).diskSizeGB + 1
  await cpd.api(`/postgres/${db}`, { method: 'PATCH', json: { diskSizeGB } })
  await world.kill(400)
  await until('it has grown', async () => (await databaseOf(world, db)).diskSizeGB === diskSizeGB, LONG_MS)
  await isAvailable(world, db)
  return 'grown'
}

async function backUpStore(world: World): Promise<string> {
  const { cpd, cache } = world
  const asked = await until(
    'a backup can be asked for',
    async () => {
      const { status, body } = await cpd.api<Backup>(`/key-value/${cache}/backups`, { method: 'POST' })
      return status === 201 && body
    },
    LONG_MS,
  )
  await world.kill(600)
  await until(
    'the backup is verified',
    async () => {
      const { body } = await cpd.api<{ backup: Backup }[]>(`/key-value/${cache}/backups?limit=100`)
      return body.some(({ backup }) => backup.id === asked.id && backup.verifiedAt !== undefined)
    },
    LONG_MS,
  )
  return 'store backed up'
}

async function recoverStore(world: World): Promise<string> {
  const { cpd, cache } = world
  const { status, body } = await cpd.api<KeyValue>(`/key-value/${cache}/recovery`, { method: 'POST', json: { name: 'recovered' } })
  if (status !== 201) throw new Error(`Not recovered: ${status}`)
  await world.kill(1500)
  const state = async () => (await cpd.api<KeyValue>(`/key-value/${body.id}`)).body.status
  await until('the store is recovered', async () => (await state()) === 'available', LONG_MS)
  await cpd.api(`/key-value/${body.id}`, { method: 'DELETE' })
  await world.kill(600)
  await until('it is gone', () => !foldersIn(world, 'services').includes(body.id), LONG_MS)
  return 'store recovered and deleted'
}

async function createAndDelete(world: World): Promise<string> {
  const { cpd } = world
  const { status, body } = await cpd.api<Postgres>('/postgres', { method: 'POST', json: { name: 'another' } })
  if (status !== 201) throw new Error(`Not created: ${status}`)
  await world.kill(1200)
  await isAvailable(world, body.id)
  await cpd.api(`/postgres/${body.id}`, { method: 'DELETE' })
  await world.kill(800)
  await until('it is gone', () => !foldersIn(world, 'services').includes(body.id), LONG_MS)
  return 'created and deleted'
}

async function suspendAndResume(world: World): Promise<string> {
  const { cpd, db } = world
  await cpd.api(`/postgres/${db}/suspend`, { method: 'POST' })
  await world.kill(800)
  await cpd.api(`/postgres/${db}/resume`, { method: 'POST' })
  await world.kill(800)
  await isAvailable(world, db)
  return 'suspended and resumed'
}

async function restart(world: World): Promise<string> {
  await world.cpd.api(`/postgres/${world.db}/restart`, { method: 'POST' })
  await world.kill(1200)
  await isAvailable(world, world.db)
  return 'restarted'
}

async function rotate(world: World): Promise<string> {
  const { cpd, db } = world
  const path = `/postgres/${db}/credentials`
  const before = (await cpd.api<{ username: string; default: boolean }[]>(path)).body
  const asking = cpd.api(path, { method: 'POST', json: {} }).catch(() => undefined)
  await world.kill(200)
  await asking
  await isAvailable(world, db)
  const after = (await cpd.api<{ username: string; default: boolean }[]>(path)).body
  const fresh = after.filter(({ username }) => before.every((known) => known.username !== username))
  const other = after.find((one) => !fresh.includes(one))
  // Users that are no longer named are taken back, so that there is always room for another.
  if (fresh.length > 0 && before.length > 1 && other !== undefined && !other.default)
    await cpd.api(`${path}/${other.username}`, { method: 'DELETE' })
  return fresh.length > 0 ? 'rotated' : 'not rotated'
}

/** Switches the pooler on, or off where it is on: failovers happen with one beside, too. */
async function pool(world: World): Promise<string> {
  const { cpd, db } = world
  const { connectionPool: now } = (await cpd.api<{ connectionPool: string }>(`/postgres/${db}`)).body
  const connectionPool = now === 'pgbouncer' ? 'none' : 'pgbouncer'
  const { status } = await cpd.api(`/postgres/${db}`, { method: 'PATCH', json: { connectionPool } })
  await world.kill(1200)
  await isAvailable(world, db)
  return status === 200 ? `pooling ${connectionPool}` : `pooling refused (${status})`
}

const steps: readonly Step[] = [
  { name: 'pooling', run: pool },
  { name: 'failover', run: failover },
  { name: 'growth', run: grow },
  { name: 'store-backup', run: backUpStore },
  { name: 'store-recovery', run: recoverStore },
  { name: 'creation', run: createAndDelete },
  { name: 'suspension', run: suspendAndResume },
  { name: 'restart', run: restart },
  { name: 'rotation', run: rotate },
]

async function bothTake(acknowledged: Record<Store, Set<number>>): Promise<void> {
  for (const store of STORES) {
    const before = acknowledged[store].size
    await until(`${store} takes what is written again`, () => acknowledged[store].size > before, BACK_MS)
  }
}

const foldersIn = ({ cpd }: World, folder: 'services' | 'disks' | 'backups'): string[] => readdirSync(join(cpd.paths.data, folder))

/** Servers of databases by the volume that they run on: two on one would damage it. */
async function doubled({ cpd }: World): Promise<string[]> {
  const servers = processesOf(cpd.paths.data).filter((pid) => /(^|\/)postgres -D /.test(commandLine(pid)))
  // A connection's process is called as its server is until it has a title of its own.
  const volumes = servers.filter((pid) => !servers.includes(parentOf(pid))).flatMap((pid) => volumeOf(pid))
  return volumes.filter((volume, index) => volumes.indexOf(volume) !== index).map((volume) => `two servers run on ${volume}`)
}

function parentOf(pid: number): number {
  try {
    return Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
  } catch {
    return 0
  }
}

function volumeOf(pid: number): string[] {
  try {
    const lines = readFileSync(`/proc/${pid}/mountinfo`, 'utf8')
    const line = lines.split('\n').find((one) => one.split(' ')[4] === '/var/lib/datastore')
    return line === undefined ? [] : [`${line.split(' ')[2]} ${line.split(' ')[3]}`]
  } catch {
    return []
  }
}

/** Folders of what is no more. */
async function left(world: World): Promise<string[]> {
  const { cpd } = world
  const folder = join(cpd.paths.data, 'backups', 'restores')
  // The way of the standby to its primary is there as long as that is.
  const restores = () => (existsSync(folder) ? readdirSync(folder).filter((name) => !name.endsWith('.way')) : [])
  const isClear = () => restores().length === 0 && foldersIn(world, 'disks').length <= MOST_VOLUMES
  await until('nothing of what was made is left', isClear, LONG_MS).catch(() => undefined)
  const volumes = foldersIn(world, 'disks')
  return [
    ...restores().map((name) => `backups/restores/${name} is left`),
    ...(volumes.length > MOST_VOLUMES ? [`${volumes.length} volumes are left: ${volumes.join(', ')}`] : []),
  ]
}

/** The database, its standby, the store and a spare cluster. */
const MOST_VOLUMES = 4
