import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { type Compiled, startCompiled } from '../support/compiled.ts'
import { cpctl } from '../support/compiled-steps.ts'
import { until } from '../support/until.ts'
import { type Outcome, progress, secondsSince } from './outcome.ts'

/** An application that others have made, on a database of ours. */
interface KnownApp {
  name: string
  /** What it wants the connection string to be called. */
  variable: string
  env: Record<string, string>
  /** Writes a row over HTTP. */
  write(ask: Ask, row: string): Promise<unknown>
  /** What is read back. */
  read(ask: Ask): Promise<string>
}

type Ask = (path: string, json?: unknown, headers?: Record<string, string>) => Promise<string>

const SECRET = 'a-secret-of-the-tests-0123456789'
const LIVE_SECONDS = 600
const ROWS = ['first', 'behind a restart', 'behind a loss of all connections']
const admin = { email: 'ada@example.com', password: 'correct horse battery' }

const knownApps: KnownApp[] = [
  {
    name: 'django',
    variable: 'DATABASE_URL',
    env: { SECRET_KEY: SECRET },
    write: (ask, name) => ask('/items', { name }),
    read: (ask) => ask('/items'),
  },
  {
    name: 'directus',
    variable: 'DB_CONNECTION_STRING',
    env: { DB_CLIENT: 'pg', SECRET, KEY: SECRET, HOST: '127.0.0.1', ADMIN_EMAIL: admin.email, ADMIN_PASSWORD: admin.password },
    async write(ask, name) {
      const headers = await signedIn(ask)
      await ask('/collections', items, headers).catch(() => undefined)
      await ask('/items/items', { name }, headers)
    },
    read: async (ask) => ask('/items/items', undefined, await signedIn(ask)),
  },
  {
    name: 'strapi',
    variable: 'DATABASE_URL',
    env: { SECRET, APP_KEYS: `${SECRET},${SECRET}`, STRAPI_TELEMETRY_DISABLED: 'true' },
    write: (ask, name) => ask('/api/items', { data: { name } }),
    read: (ask) => ask('/api/items'),
  },
]

const items = { collection: 'items', schema: {}, fields: [{ field: 'name', type: 'string' }] }

async function signedIn(ask: Ask): Promise<Record<string, string>> {
  const { data } = JSON.parse(await ask('/auth/login', admin)) as { data: { access_token: string } }
  return { authorization: `Bearer ${data.access_token}` }
}

/** Django, Directus and Strapi as people deploy them: migrated, a row written over HTTP and read back, also after their database was away. */
export async function apps(only: readonly string[]): Promise<Outcome> {
  const startedAt = performance.now()
  const chosen = knownApps.filter(({ name }) => only.length === 0 || only.includes(name))
  const cpd = await startCompiled()
  const failures: string[] = []
  try {
    for (const app of chosen) {
      const from = performance.now()
      const problem = await tryOut(cpd, app).then(
        () => undefined,
        (error: Error) => error.message,
      )
      if (problem !== undefined) failures.push(`${app.name}: ${problem}`)
      progress(`${app.name}: ${problem ?? 'a row is written and read back'} (${secondsSince(from)} s)`)
    }
  } finally {
    await cpd.stop()
  }
  return { summary: `${chosen.length} apps in ${secondsSince(startedAt)} s, ${failures.length} failed`, failures }
}

async function tryOut(cpd: Compiled, app: KnownApp): Promise<void> {
  const parent = mkdtempSync(join(tmpdir(), 'cpd-known-app-'))
  const dir = join(parent, app.name)
  cpSync(resolve('test/fixtures/apps', app.name), dir, { recursive: true })
  const database = `${app.name}-db`
  try {
    await cpctl(cpd, 'postgres', 'create', database, '--plan', 'basic_1gb')
    await cpctl(cpd, 'services', 'create', app.name, '--type', 'web_service', '--plan', 'standard')
    for (const [name, value] of Object.entries(app.env)) await cpctl(cpd, 'env', 'set', `${name}=${value}`, '--service', app.name)
    await cpctl(cpd, 'env', 'set', app.variable, '--service', app.name, '--from-postgres', database)
    await cpctl(cpd, 'deploy', dir, '--no-guard')
    const ask = asker(cpd, app.name)
    await until(`${app.name} answers`, () => ask('/').then(Boolean, () => false), LIVE_SECONDS * 1000)
    await writesAndReads(app, ask, ROWS[0])
    await cpctl(cpd, 'postgres', 'restart', database)
    await writesAndReads(app, ask, ROWS[1])
    const ends = 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = current_user AND pid <> pg_backend_pid()'
    await cpctl(cpd, 'postgres', 'psql', database, '-c', ends)
    await writesAndReads(app, ask, ROWS[2])
  } finally {
    rmSync(parent, { recursive: true, force: true })
  }
}

/** An app may answer once or twice with the loss of its connection. */
async function writesAndReads(app: KnownApp, ask: Ask, row = ''): Promise<void> {
  const isThere = async () => (await app.read(ask)).includes(row)
  await until(
    `${app.name} has taken "${row}"`,
    async () =>
      (await app
        .write(ask, row)
        .then(isThere, isThere)
        .catch(() => false)) === true,
    120_000,
  )
}

const asker =
  (cpd: Compiled, slug: string): Ask =>
  async (path, json, headers = {}) => {
    const sent =
      json === undefined
        ? { headers }
        : { method: 'POST', body: JSON.stringify(json), headers: { ...headers, 'content-type': 'application/json' } }
    const answer = await cpd.appFetch(slug, path, { ...sent, signal: AbortSignal.timeout(60_000) })
    const text = await answer.text()
    if (answer.status >= 400) throw new Error(`${path} was answered with ${answer.status}: ${text.slice(0, 200)}`)
    return text
  }
