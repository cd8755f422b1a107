import { join } from 'node:path'
import { stored } from '../../server/apps/datastores/operations.ts'
import { programsOf } from '../../server/apps/postgres/programs.ts'
import { requireEndpoint } from '../../server/apps/postgres/session.ts'
import { settingsOf } from '../../server/apps/postgres/settings.ts'
import { runProcess } from '../../server/platform/process/spawn.ts'
import { type Postgres, type PostgresConnectionInfo, postgresPlans } from '../../shared/postgres.ts'
import { call } from '../support/client.ts'
import { type Platform, startPlatform } from '../support/platform.ts'
import { startPostgresServer } from '../support/postgres-server.ts'
import { until } from '../support/until.ts'
import { confine } from './confine.ts'
import { inTurns, printRatio } from './turns.ts'

const [ROUNDS, SECONDS, SCALE] = [3, 5, 10]
const GOAL = 0.95
const PLAN = 'pro_8gb'
const SIZE_GB = 2
const LONG_MS = 120_000

const kinds = [
  { name: 'select', args: ['-S'] },
  { name: 'TPC-B', args: [] },
] as const

/**
 * A database at the address of its private name, in its sandbox and streaming its backup, beside Debian's PostgreSQL with the settings of
 * its plan and nothing around it, by pgbench: `npm run bench postgres`. The way in from outside is measured by `postgres-ingress`.
 */
export async function run(): Promise<void> {
  const platform = await startPlatform()
  try {
    const ours = await createDatabase(platform)
    const settings = settingsOf({ plan: postgresPlans[PLAN], sizeGb: SIZE_GB, version: 15 })
    const peer = await startPostgresServer('fsync=on', ...Object.entries(settings).map(([name, value]) => `${name}=${value}`))
    let release = () => {}
    try {
      release = confine(peer.pid, postgresPlans[PLAN].cpu)
      await compare(platform, { ours, peer: `host=127.0.0.1 port=${peer.port} user=test_user password=pw dbname=test_db` })
    } finally {
      await peer.stop()
      release()
    }
  } finally {
    await platform.close()
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

async function compare({ context }: Platform, ways: { ours: string; peer: string }): Promise<void> {
  const pgbench = join(context.programs.folder(programsOf(context, '18').name), 'bin/pgbench')
  const measure = async (way: string, args: readonly string[]) => {
    const { stdout, stderr } = await runProcess([pgbench, ...args, way])
    const perSecond = Number(/tps = ([\d.]+)/.exec(stdout)?.[1])
    if (!args.includes('-i') && !(perSecond > 0)) throw new Error(`pgbench failed: ${stderr}`)
    return perSecond
  }
  for (const way of Object.values(ways)) await measure(way, ['-i', '-q', '-s', String(SCALE)])
  for (const { name, args } of kinds)
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
