import { SQL } from 'bun'

export interface PostgresTarget {
  host: string
  port: number
  user: string
  password: string
  database: string
  /** In force from the first moment, before what the database or the role has set for itself. */
  settings?: Readonly<Record<string, string>>
}

export type SqlRow = Record<string, unknown>

export interface PostgresConnection {
  /** One statement with values, or several without. */
  run(sql: string, values?: readonly unknown[]): Promise<SqlRow[]>
  close(): Promise<void>
}

/** Opens one connection. @throws whatever refuses it. */
export type ConnectPostgres = (target: PostgresTarget) => Promise<PostgresConnection>

const CONNECT_SECONDS = 5

export const connectPostgres: ConnectPostgres = async ({ host: hostname, port, user: username, ...target }) => {
  const { password, database, settings } = target
  const common = { adapter: 'postgres', max: 1, tls: false, prepare: false, connectionTimeout: CONNECT_SECONDS } as const
  const sql = new SQL({ ...common, hostname, port, username, password, database, connection: { application_name: 'cpd', ...settings } })
  try {
    await sql.connect()
  } catch (error) {
    await sql.close()
    throw error
  }
  return {
    run: async (text, values = []) => [...(values.length === 0 ? await sql.unsafe(text).simple() : await sql.unsafe(text, [...values]))],
    close: () => sql.close(),
  }
}
