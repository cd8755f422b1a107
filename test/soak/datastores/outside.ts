import { RedisClient, SQL } from 'bun'
import type { KeyValueConnectionInfo } from '../../../shared/key-value.ts'
import type { PostgresConnectionInfo } from '../../../shared/postgres.ts'
import type { Compiled } from '../../support/compiled.ts'
import { until } from '../../support/until.ts'
import type { Store } from './ledger.ts'

/** Clients that connect from outside. */
export interface Outside {
  describe(): string
  /** Connections that ended before this moment (`performance.now`), or otherwise than by the word that the ingress says at its end. */
  cutWrongly(before: number): string[]
  /** Whether those that connected first have been told to come again. */
  firstHaveEnded(): boolean
  over: Promise<unknown>
}

interface Cut {
  connection: string
  code: string
  at: number
}

/** Numbers that nobody else writes. */
const FIRST_NUMBER = 1_000_000_000
const OPENED = 100_000_000
const PAUSE_MS = 20
const CONNECTIONS = 2

/** Holds connections to both ports that write one number after the other, and one of each that is idle nearly always. */
export async function holdOutside(
  cpd: Compiled,
  { acknowledged, signal }: { acknowledged: Record<Store, Set<number>>; signal: AbortSignal },
): Promise<Outside> {
  const idOf = async (kind: 'postgres' | 'key-value') => {
    const { body } = await cpd.api<Record<string, { id: string }>[]>(`/${kind}`)
    return Object.values(body[0] ?? {}).find((value) => typeof value === 'object')?.id ?? ''
  }
  const { body: database } = await cpd.api<PostgresConnectionInfo>(`/postgres/${await idOf('postgres')}/connection-info`)
  const { body: store } = await cpd.api<KeyValueConnectionInfo>(`/key-value/${await idOf('key-value')}/connection-info`)
  const cuts: Cut[] = []
  const run = (name: string, connection: Connection, holding: Pick<Holding, 'set' | 'first' | 'pauseMs'>) =>
    hold(connection, { ...holding, signal, cut: (code) => cuts.push({ connection: name, code, at: performance.now() }) })
  const postgres = () => postgresFrom(database.externalConnectionString)
  const keyValue = () => keyValueFrom(store.externalConnectionString)
  await until('both ports let somebody in', async () => {
    const [one, other] = [postgres(), keyValue()]
    try {
      await one.write(FIRST_NUMBER - 1)
      await other.write(FIRST_NUMBER - 1)
      return true
    } catch {
      return false
    } finally {
      one.close()
      other.close()
    }
  })
  const running = Array.from({ length: CONNECTIONS }, (_, index) => {
    const first = FIRST_NUMBER + index * 2 * OPENED
    const pauseMs = index === 0 ? PAUSE_MS : PAUSE_MS * 250
    return [
      run(`pg ${index}`, postgres(), { set: acknowledged.pg, first, pauseMs }),
      run(`kv ${index}`, keyValue(), { set: acknowledged.kv, first: first + OPENED, pauseMs }),
    ]
  })
  const say = ({ connection, code }: Cut) => `${connection} was cut with ${code}`
  return {
    describe: () => `${cuts.length} connections from outside were ended${cuts.length > 0 ? ` (${cuts.map(say).join(', ')})` : ''}`,
    cutWrongly: (before) =>
      cuts.filter(({ connection, code, at }) => at < before || (connection.startsWith('pg') && code !== '57P01')).map(say),
    firstHaveEnded: () => [0, 1].every((index) => cuts.some(({ connection }) => connection === `pg ${index}`)),
    over: Promise.all(running.flat()),
  }
}

interface Connection {
  write(number: number): Promise<unknown>
  close(): void
}

interface Holding {
  set: Set<number>
  first: number
  pauseMs: number
  signal: AbortSignal
  cut(code: string): void
}

function codeOf(error: unknown): string | undefined {
  const { errno, code, message } = (error ?? {}) as { errno?: string; code?: string; message?: string }
  return errno ?? code ?? message
}

/** One connection until its end; nobody connects again. */
async function hold(connection: Connection, { set, first, pauseMs, signal, cut }: Holding): Promise<void> {
  for (let number = first; !signal.aborted; number++) {
    const error = await connection.write(number).then(
      () => undefined,
      (reason: unknown) => reason,
    )
    if (error !== undefined) {
      cut(codeOf(error) ?? String(error))
      break
    }
    set.add(number)
    await Bun.sleep(pauseMs)
  }
  connection.close()
}

const tls = { rejectUnauthorized: false }

/** One connection that is kept: a pool of Bun's would open another by itself, which is told by the process of the server. */
function postgresFrom(connection: string): Connection {
  const { hostname, port, username, password, pathname } = new URL(connection)
  const login = { username, password, database: pathname.slice(1) }
  const sql = new SQL({
    adapter: 'postgres',
    hostname: '127.0.0.1',
    port: Number(port),
    ...login,
    tls: { ...tls, serverName: hostname },
    max: 1,
    onclose: (error) => {
      ended ??= codeOf(error)
    },
  })
  let pid: number | undefined
  let ended: string | undefined
  return {
    async write(number) {
      const [row] =
        await sql`INSERT INTO written VALUES (${number}) ON CONFLICT (number) DO UPDATE SET number = excluded.number RETURNING pg_backend_pid() AS pid`
      pid ??= row.pid
      // Bun has connected again by itself, after an idle connection was ended with a word.
      if (pid !== row.pid) throw Object.assign(new Error('another connection'), { code: ended ?? 'another connection' })
    },
    close: () => void sql.close({ timeout: 0 }),
  }
}

function keyValueFrom(connection: string): Connection {
  const { port, username, password } = new URL(connection)
  const client = new RedisClient(`rediss://${username}:${password}@127.0.0.1:${port}`, { autoReconnect: false, tls })
  return { write: (number) => client.set(`written:${number}`, String(number)), close: () => client.close() }
}
