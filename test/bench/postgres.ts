import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stored } from '../../server/apps/datastores/operations.ts'
import { programsOf } from '../../server/apps/postgres/programs.ts'
import { requireEndpoint } from '../../server/apps/postgres/session.ts'
import { settingsOf } from '../../server/apps/postgres/settings.ts'
import { runProcess, spawnProcess } from '../../server/platform/process/spawn.ts'
import { type Postgres, type PostgresConnectionInfo, postgresPlans } from '../../shared/postgres.ts'
import { call } from '../support/client.ts'
import { type Platform, startPlatform } from '../support/platform.ts'
import { type PostgresServer, startPostgresServerIn } from '../support/postgres-server.ts'
import { makeSmallDisk } from '../support/small-disk.ts'
import { until } from '../support/until.ts'
import { confine } from './confine.ts'
import { inTurns, printRatio } from './turns.ts'

const [ROUNDS, SECONDS, SCALE] = [3, 5, 10]
const GOAL = 0.95
const PLAN = 'pro_8gb'
const SIZE_GB = 2
const GB = 1024 ** 3
const LONG_MS = 120_000

interface Kind {
  name: string
  args: readonly string[]
}

const kinds: readonly Kind[] = [
  { name: 'select', args: ['-S'] },
  { name: 'TPC-B', args: [] },
]

/**
 * A database at the address of its private name, in its sandbox and streaming its backup, beside Debian's PostgreSQL with the settings of
 * its plan, by pgbench: `npm run bench postgres`. Once that has nothing around it, and for what writes once more with a disk of a size of its
 * own and its log received, as ours has. The way in from outside is measured by `postgres-ingress`.
 */
export async function run(): Promise<void> {
  const platform = await startPlatform()
  try {
    const ours = await createDatabase(platform)
    const settings = settingsOf({ plan: postgresPlans[PLAN], sizeGb: SIZE_GB, version: 15 })
    const given = ['fsync=on', ...Object.entries(settings).map(([name, value]) => `${name}=${value}`)]
    await beside(tmpdir(), given, (peer) => compare(platform, { ours, peer: loginOf(peer) }, kinds))
    console.log('  beside one with a disk of its own size, whose log is received:')
    const disk = await makeSmallDisk(SIZE_GB * GB)
    chmodSync(disk.dir, 0o711)
    try {
      await beside(disk.dir, given, async (peer) => {
        const stop = await receiveLog(peer)
        await compare(platform, { ours, peer: loginOf(peer) }, kinds.slice(1))
        await stop()
      })
    } finally {
      await disk.close()
    }
  } finally {
    await platform.close()
  }
}

const loginOf = ({ port }: PostgresServer): string => `host=127.0.0.1 port=${port} user=test_user password=pw dbname=test_db`

async function beside(parent: string, settings: readonly string[], use: (peer: PostgresServer) => Promise<void>): Promise<void> {
  const peer = await startPostgresServerIn(parent, settings)
  let release = () => {}
  try {
    release = confine(peer.pid, postgresPlans[PLAN].cpu)
    await use(peer)
  } finally {
    await peer.stop()
    release()
  }
}

async function receiveLog({ port, programs }: PostgresServer): Promise<() => Promise<void>> {
  const dir = mkdtempSync(join(tmpdir(), 'cpd-bench-log-'))
  const env = { PGPASSWORD: 'pw' }
  const place = ['--host', '127.0.0.1', '--port', String(port), '--username', 'cpd_admin']
  const made = await runProcess([join(programs, 'pg_receivewal'), ...place, '--slot=bench', '--create-slot'], { env })
  if (made.exitCode !== 0) throw new Error(made.stderr)
  const receiver = spawnProcess([join(programs, 'pg_receivewal'), ...place, '--slot=bench', '--directory', dir], { env })
  return async () => {
    receiver.kill('SIGINT')
    await receiver.exited
    rmSync(dir, { recursive: true })
  }
}

async function createDatabase({ url, adminToken: token, context }: Platform): Promise<string> {
  const wanted = { name: 'bench', plan: PLAN, diskSizeGB: SIZE_GB }
  const { status, body: made } = await call<Postgres>(`${url}/v1/postgres`, { token, json: wanted })
  if (status !== 201) throw new Error(`${status} ${JSON.stringify(made)}`)
  const { id } = made
  const path = `${url}/v1/postgres/${id}`
  await until('it is available', async () => (await call<Postgres>(path, { token })).body.status === 'available', LONG_MS)
  const { body } = await call<PostgresConnectionInfo>(`${path}/connection-info`, { token })
  const { username, pathname } = new URL(body.internalConnectionString)
  const { host, port } = requireEndpoint(context, stored(context, id))
  return `host=${host} port=${port} user=${username} password=${body.password} dbname=${pathname.slice(1)}`
}

async function compare({ context }: Platform, ways: { ours: string; peer: string }, wanted: readonly Kind[]): Promise<void> {
  const pgbench = join(context.programs.folder(programsOf(context, '18').name), 'bin/pgbench')
  const measure = async (way: string, args: readonly string[]) => {
    const { stdout, stderr } = await runProcess([pgbench, ...args, way])
    const perSecond = Number(/tps = ([\d.]+)/.exec(stdout)?.[1])
    if (!args.includes('-i') && !(perSecond > 0)) throw new Error(`pgbench failed: ${stderr}`)
    return perSecond
  }
  for (const way of Object.values(ways)) await measure(way, ['-i', '-q', '-s', String(SCALE)])
  for (const { name, args } of wanted)
    for (const clients of [1, 8, 64]) {
      const all = [...args, '-M', 'prepared', '-n', '-c', String(clients), '-j', String(Math.min(clients, 2))]
      const figures = await inTurns(ROUNDS, (whose) => measure(ways[whose], [...all, '-T', String(SECONDS)]))
      printRatio(`${name}, ${clients} clients`, figures, GOAL)
    }
}

if (import.meta.main) {
  await run()
  process.exit(0)
}
