import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openIncoming } from '../../../../server/apps/backups/postgres/archive-wal.ts'
import {
  endUnfinished,
  incomingIn,
  type Receiver,
  removeTorn,
  SLOT,
  startReceiver,
} from '../../../../server/apps/backups/postgres/receiver.ts'
import type { RepositoryDeps } from '../../../../server/apps/backups/repository/repository.ts'
import { createRelays } from '../../../../server/apps/backups/work/relay.ts'
import { adminSettings } from '../../../../server/apps/postgres/roles.ts'
import { migrateDatabase } from '../../../../server/platform/db/migrate.ts'
import { openDatabase } from '../../../../server/platform/db/open.ts'
import { pathsOf } from '../../../../server/platform/paths.ts'
import { connectPostgres } from '../../../../server/platform/postgres/connect.ts'
import { toolCommand } from '../../../../server/platform/process/own-user.ts'
import { createSealer } from '../../../../server/platform/secrets/seal.ts'
import { commandLine, processesOf } from '../../../support/leftovers.ts'
import { isRoot, majorOf, NOBODY, type PostgresServer, startPostgres } from '../../../support/source-postgres.ts'
import { until } from '../../../support/until.ts'

const dir = mkdtempSync(join(tmpdir(), 'receivers-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const datastoreId = 'dpg-00000000000000000001-a'
let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres()
  await server.sql`SELECT pg_create_physical_replication_slot(${SLOT}, true)`
})
afterAll(async () => await server.close())

/** A data directory in a folder of its own, which is nobody's but root's where the mode says so. */
function depsIn(folder: string, mode: number): RepositoryDeps {
  const parent = join(dir, folder)
  mkdirSync(parent, { recursive: true })
  chmodSync(dir, 0o755)
  chmodSync(parent, mode)
  const paths = pathsOf(join(parent, 'data'))
  mkdirSync(paths.backups, { recursive: true })
  const db = openDatabase(join(parent, 'db'))
  migrateDatabase(db)
  return { db, sealer: createSealer(Buffer.alloc(32, 7)), paths, now: Date.now, bucket: undefined }
}

const isActive = async (on = server): Promise<boolean> =>
  (await on.sql`SELECT active FROM pg_replication_slots WHERE slot_name = ${SLOT}`)[0]?.active === true

async function streamFrom(deps: RepositoryDeps, on = server, { areCommitsWaiting } = { areCommitsWaiting: false }): Promise<Receiver> {
  const relays = createRelays(deps.paths)
  const place = await relays.open(datastoreId, { host: '127.0.0.1', port: on.port }, NOBODY)
  const source = { programs: server.programs, ...place, user: 'cpd_admin', password: server.password, uid: NOBODY }
  const receiver = await startReceiver(deps, { ...source, areCommitsWaiting }, datastoreId)
  let words: string | undefined
  void receiver.ended.then((said) => {
    words = said
    relays.close()
  })
  await until('the log is streamed', async () => {
    if (words !== undefined) throw new Error(words)
    return await isActive(on)
  })
  return receiver
}

/** Returns the name of its file. */
const untilBegun = (deps: RepositoryDeps): Promise<string> =>
  until('a segment is begun', () => readdirSync(incomingIn(deps, datastoreId)).find((name) => name.endsWith('.partial')))

describe('a receiver', () => {
  const longName = 'a-long-name-of-a-folder/'.repeat(5)
  it.each([
    ['lies below a folder that only root may enter', 'closed', 0o700],
    ['has a name too long for the address of a socket', longName, 0o755],
    ['is open to pass through', 'open', 0o755],
  ])('streams when the data directory %s', async (_, folder, mode) => {
    const deps = depsIn(folder, mode)
    const receiver = await streamFrom(deps)
    await server.sql`CREATE TABLE IF NOT EXISTS rows (i int)`
    await untilBegun(deps)
    await receiver.stop()
    await until('the server has let go of it', async () => !(await isActive()))
  })

  it('goes on after a kill in the middle of making a file', async () => {
    const deps = depsIn('torn', 0o755)
    const receiver = await streamFrom(deps)
    const begun = await untilBegun(deps)
    await receiver.stop()
    await until('the server has let go of it', async () => !(await isActive()))
    const incoming = incomingIn(deps, datastoreId)
    writeFileSync(join(incoming, begun), Buffer.alloc(4096))
    expect(await openIncoming(deps, datastoreId)).toEqual([])
    await (await streamFrom(deps)).stop()
    await until('the server has let go of it', async () => !(await isActive()))
  })

  it('keeps what is whole when what is torn goes', () => {
    const folder = mkdtempSync(join(dir, 'incoming-'))
    writeFileSync(join(folder, '000000010000000000000001'), Buffer.alloc(16 * 1024 * 1024))
    writeFileSync(join(folder, '000000010000000000000002.partial'), Buffer.alloc(100))
    writeFileSync(join(folder, '00000002.history'), '1\t0/3000000\tno recovery target specified\n')
    removeTorn(folder)
    expect(readdirSync(folder).toSorted()).toEqual(['000000010000000000000001', '00000002.history'])
  })

  it('runs as a user who owns nothing else, without rights, and is told no password in its arguments', async () => {
    const deps = depsIn('closed', 0o700)
    const receiver = await streamFrom(deps)
    const pid = processesOf(deps.paths.data).find((one) => commandLine(one).includes('pg_receivewal --host'))
    expect(pid).toBeDefined()
    expect(commandLine(Number(pid))).not.toContain(server.password)
    const status = await Bun.file(`/proc/${pid}/status`).text()
    if (isRoot) expect(status).toMatch(new RegExp(`^Uid:\\s+${NOBODY}\\s+${NOBODY}\\s+${NOBODY}\\s+${NOBODY}$`, 'm'))
    if (isRoot) expect(status).toMatch(/^CapEff:\s+0+$/m)
    await receiver.stop()
  })

  it('is waited for by commits where that is asked for, but not by the platform', async () => {
    const waiting = await startPostgres({ settings: { synchronous_standby_names: 'pg_receivewal' } })
    try {
      await waiting.sql`SELECT pg_create_physical_replication_slot(${SLOT}, true)`
      const committed = waiting.sql`CREATE TABLE waited AS SELECT 1 AS i`.execute()
      const isWaiting = async () => (await waiting.sql`SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep'`).length === 1
      await until('the commit waits', isWaiting)
      const place = { host: '127.0.0.1', port: waiting.port, database: 'postgres' }
      const settings = adminSettings(majorOf(waiting.programs))
      const own = await connectPostgres({ ...place, user: 'cpd_admin', password: waiting.password, settings })
      await own.run('CREATE TABLE public.of_the_platform (i int)')
      await own.close()
      const receiver = await streamFrom(depsIn('waited', 0o755), waiting, { areCommitsWaiting: true })
      await committed
      await receiver.stop()
    } finally {
      await waiting.close()
    }
  })

  it('is started by arrays, whose paths are those that it sees', () => {
    const tool = {
      programs: '/opt/pg',
      uid: 1,
      folder: `/${'x'.repeat(100)}`,
      name: 'pg_receivewal',
      args: ['--directory', `/${'x'.repeat(100)}/incoming`],
    }
    const command = toolCommand(tool)
    if (isRoot) expect(command.slice(-3)).toEqual(['/dev/shm/programs/bin/pg_receivewal', '--directory', '/dev/shm/files/incoming'])
    expect(command.at(-3)).toContain('pg_receivewal')
  })
})

it('ends with a former time line: what was begun of its last segment is all there is of it, and stays', () => {
  const deps = depsIn('ended', 0o755)
  const folder = incomingIn(deps, datastoreId)
  mkdirSync(folder, { recursive: true })
  const whole = Buffer.alloc(16 * 1024 * 1024)
  writeFileSync(join(folder, '000000010000000000000007.partial'), whole)
  writeFileSync(join(folder, '000000010000000000000008.partial'), 'torn')
  writeFileSync(join(folder, '000000020000000000000007.partial'), whole)
  endUnfinished(deps, datastoreId, 2)
  expect(readdirSync(folder)).toEqual(['000000010000000000000007'])
})
