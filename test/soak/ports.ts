import { SQL } from 'bun'
import type { KeyValueConnectionInfo } from '../../shared/key-value.ts'
import type { PostgresConnectionInfo } from '../../shared/postgres.ts'
import { startCompiled } from '../support/compiled.ts'
import { cpctl } from '../support/compiled-steps.ts'
import { freePorts } from '../support/free-ports.ts'
import { commandLine, processesOf } from '../support/leftovers.ts'
import { until } from '../support/until.ts'
import { type Outcome, progress, secondsSince } from './outcome.ts'
import { type Attack, type Attacked, attack, type Beside } from './ports/attack.ts'

export interface PortsOptions {
  connections: number
}

const MB = 1024 * 1024
/** What the ingress may hold for ten thousand who want nothing, and what is left of it when they are gone. */
const MOST_MB = 700

/** Strangers who want nothing, or want it slowly: ten thousand at a port, a byte a second, no password, answers that nobody reads. */
export async function ports({ connections }: PortsOptions): Promise<Outcome> {
  const startedAt = performance.now()
  const [httpsPort = 0, postgresPort = 0, keyValuePort = 0] = freePorts(3)
  const env = {
    CP_ACME_DIRECTORY: 'off',
    CP_INGRESS_HTTPS: `127.0.0.1:${httpsPort}`,
    CP_INGRESS_POSTGRES: `127.0.0.1:${postgresPort}`,
    CP_INGRESS_KEY_VALUE: `127.0.0.1:${keyValuePort}`,
  }
  const cpd = await startCompiled({ env })
  try {
    await cpctl(cpd, 'postgres', 'create', 'db', '--allow-ip', 'everywhere')
    await cpctl(cpd, 'kv', 'create', 'cache', '--allow-ip', 'everywhere')
    const { id: postgresId } = JSON.parse(await cpctl(cpd, 'postgres', 'get', 'db', '--json')) as { id: string }
    const { id: keyValueId } = JSON.parse(await cpctl(cpd, 'kv', 'get', 'cache', '--json')) as { id: string }
    const { body: database } = await cpd.api<PostgresConnectionInfo>(`/postgres/${postgresId}/connection-info`)
    const { body: store } = await cpd.api<KeyValueConnectionInfo>(`/key-value/${keyValueId}/connection-info`)
    const beside = honest(database.externalConnectionString)
    await until('an honest client comes in', () =>
      beside().then(
        () => true,
        () => false,
      ),
    )
    await fill(store.externalConnectionString)
    const { username, password } = new URL(store.externalConnectionString)
    const host = new URL(database.externalConnectionString).hostname
    const few = Math.min(connections, 1000)
    const attacks: Attack[] = [
      { mode: 'silent', port: postgresPort, count: connections, host },
      { mode: 'silent', port: keyValuePort, count: connections, host },
      { mode: 'half-closed', port: postgresPort, count: connections, host },
      { mode: 'dribble', port: postgresPort, count: few, host },
      { mode: 'dribble-command', port: keyValuePort, count: few, host },
      { mode: 'tls-postgres', port: postgresPort, count: few, host },
      { mode: 'tls-key-value', port: keyValuePort, count: few, host },
      { mode: 'stranger', port: postgresPort, count: few, host },
      { mode: 'guess', port: keyValuePort, count: few, host: keyValueId },
      { mode: 'unread', port: keyValuePort, count: 60, host, login: `${username}/${password}`, isReleased: true },
    ]
    const ingressPid = () => processesOf(cpd.paths.data).find((pid) => / ingress /.test(commandLine(pid))) ?? 0
    const pid = ingressPid()
    const found: Attacked[] = []
    for (const one of attacks) {
      const attacked = await attack(one, { pid, beside })
      found.push(attacked)
      progress(describe(attacked))
    }
    const failures = found.flatMap(problemsOf)
    if (ingressPid() !== pid) failures.push('The ingress is another process afterwards')
    return { summary: `${attacks.length} attacks in ${secondsSince(startedAt)} s, ${failures.length} failures`, failures }
  } finally {
    await cpd.stop()
  }
}

/** Connects anew and asks for something: what an app does that has no pool. */
function honest(connection: string): Beside {
  const { hostname, port, username, password, pathname } = new URL(connection)
  const tls = { rejectUnauthorized: false, serverName: hostname }
  const login = { username, password, database: pathname.slice(1) }
  return async () => {
    const sql = new SQL({ adapter: 'postgres', hostname: '127.0.0.1', port: Number(port), ...login, tls, max: 1, connectionTimeout: 30 })
    try {
      await sql`SELECT 1`
    } finally {
      await sql.close({ timeout: 0 })
    }
  }
}

async function fill(connection: string): Promise<void> {
  const { port, username, password } = new URL(connection)
  const client = new Bun.RedisClient(`rediss://${username}:${password}@127.0.0.1:${port}`, { tls: { rejectUnauthorized: false } })
  await client.set('large', 'x'.repeat(4 * MB))
  client.close()
}

const describe = ({ attack: { mode, port, count }, opened, refused, letGoMs, mostMb, leftMb, mostFiles, latency }: Attacked): string =>
  `${mode} at ${port}: ${opened} of ${count} opened, ${refused} refused, ${letGoMs === undefined ? 'held to the end' : `gone after ${Math.round(letGoMs / 1000)} s`}; ingress ${mostMb} MB at most, ${leftMb} MB after, ${mostFiles} descriptors; others wait ${latency.median} ms, ${latency.most} ms at most (${latency.count})`

function problemsOf({ attack: { mode, isReleased }, mostMb, letGoMs, latency, failed }: Attacked): string[] {
  return [
    ...(mostMb > MOST_MB ? [`${mode}: the ingress took ${mostMb} MB`] : []),
    ...(letGoMs === undefined && !isReleased ? [`${mode}: connections were held to the end`] : []),
    ...(failed > 0 || latency.count === 0 ? [`${mode}: ${failed} honest clients did not come in`] : []),
  ]
}
