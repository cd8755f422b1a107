import { SQL } from 'bun'
import { messageOf } from '../../shared/error.ts'
import { CliError } from '../base/error.ts'
import type { Context } from '../session/context.ts'
import { printTable } from '../session/output.ts'
import { cleanLines } from '../terminal/text.ts'

export interface Destination {
  host: string
  port: number
  user: string
  password: string
  database: string
}

const CONNECT_SECONDS = 10
const leaving = new Set(['\\q', 'quit', 'exit'])

const shortcuts: Readonly<Record<string, string>> = {
  '\\l': 'SELECT datname AS name, pg_get_userbyid(datdba) AS owner FROM pg_database WHERE NOT datistemplate ORDER BY 1',
  '\\dn': "SELECT nspname AS name FROM pg_namespace WHERE nspname !~ '^pg_' ORDER BY 1",
  '\\dt':
    "SELECT schemaname AS schema, tablename AS name, tableowner AS owner FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema') ORDER BY 1, 2",
  '\\du': "SELECT rolname AS name, rolcanlogin AS login FROM pg_roles WHERE rolname !~ '^pg_' ORDER BY 1",
  '\\dx': 'SELECT extname AS name, extversion AS version FROM pg_extension ORDER BY 1',
}

/** Runs one text of SQL, what is piped in, or what is typed until \\q. @throws CliError where nobody answers or a statement fails. */
export async function prompt(context: Context, to: Destination, given: string | undefined): Promise<void> {
  const { host: hostname, port, user: username, password, database } = to
  const sql = new SQL({
    adapter: 'postgres',
    hostname,
    port,
    username,
    password,
    database,
    max: 1,
    tls: false,
    connectionTimeout: CONNECT_SECONDS,
  })
  try {
    await sql.connect().catch((error: unknown) => {
      throw new CliError('unavailable', `The database cannot be reached: ${messageOf(error)}`)
    })
    const run = async (text: string) => show(context, await rowsOf(sql, text))
    if (given !== undefined) await run(given)
    else if (context.io.stdin.isTty) await converse(context, database, run)
    else await run(await context.io.stdin.text())
  } finally {
    await sql.close({ timeout: 0 })
  }
}

/** What a statement gave; drivers tell what it was, and how many rows it concerned, beside the rows. */
type Rows = readonly Record<string, unknown>[] & { command?: string | null; count?: number | null }

async function rowsOf(sql: SQL, text: string): Promise<Rows[]> {
  const word = text.trim().replace(/;$/, '')
  const meant = word.startsWith('\\') ? shortcuts[word] : text
  if (meant === undefined)
    throw new CliError(
      'bad_request',
      `${word} is not known here; ${Object.keys(shortcuts).join(' ')} and \\q are. psql knows more: install it.`,
    )
  try {
    const result: unknown = await sql.unsafe(meant).simple()
    return Array.isArray(result) && Array.isArray(result[0]) ? (result as Rows[]) : [result as Rows]
  } catch (error) {
    throw new CliError('bad_request', messageOf(error))
  }
}

function show(context: Context, results: readonly Rows[]): void {
  if (context.isJson) {
    const plain = results.map((rows) => [...rows])
    context.printJson(plain.length === 1 ? plain[0] : plain)
    return
  }
  for (const rows of results) {
    const [first] = rows
    if (first !== undefined) {
      const columns = Object.keys(first).map((title) => ({ title, value: (row: Record<string, unknown>) => textOf(row[title]) }))
      printTable(context, columns, rows)
    }
    context.print(summaryOf(rows))
  }
}

function summaryOf({ length, command, count }: Rows): string {
  if (length > 0 || command == null || command === 'SELECT') return `(${length} ${length === 1 ? 'row' : 'rows'})`
  return cleanLines(count ? `${command} ${count}` : command)
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (value instanceof Date) return value.toISOString()
  return cleanLines(typeof value === 'object' ? JSON.stringify(value) : String(value))
}

/** A statement ends with a semicolon, as in psql; one that fails is told and not the end of it. */
async function converse(context: Context, database: string, run: (text: string) => Promise<void>): Promise<void> {
  for (let held = ''; ; ) {
    const line = await context.io.stdin.line({ text: held === '' ? `${database}=>` : `${database}->`, isHidden: false })
    if (held === '' && leaving.has(line.trim().toLowerCase())) return
    held = held === '' ? line : `${held}\n${line}`
    if (held.trim() === '') held = ''
    if (held === '' || !(held.trim().endsWith(';') || held.startsWith('\\'))) continue
    const text = held
    held = ''
    await run(text).catch((error: unknown) => context.note(`ERROR: ${cleanLines(messageOf(error))}`))
  }
}
