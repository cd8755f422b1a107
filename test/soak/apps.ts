import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { runProcess } from '../../server/platform/process/spawn.ts'
import { type Compiled, startCompiled } from '../support/compiled.ts'
import { until } from '../support/until.ts'
import { type Ask, type KnownApp, knownApps } from './apps/known-apps.ts'
import { type Outcome, progress, secondsSince } from './outcome.ts'

/** What others have made has parts in C++ that are compiled. */
const DEPLOY_MS = 1_800_000
const LIVE_MS = 600_000
const TAKEN_MS = 180_000
const SHOWN = 4000

/** Django, Directus, Strapi and BullMQ as people deploy them: a row written over HTTP and read back, also after the app, its database and all connections were away. */
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
  const run = (...args: string[]) => cpctl(cpd, args)
  try {
    await run(app.kind, 'create', database, ...(app.kind === 'postgres' ? ['--plan', 'basic_1gb'] : ['--policy', 'noeviction']))
    await run('services', 'create', app.name, '--type', 'web_service', '--plan', 'pro')
    for (const [name, value] of Object.entries(app.env)) await run('env', 'set', `${name}=${value}`, '--service', app.name)
    await run('env', 'set', app.variable, '--service', app.name, `--from-${app.kind}`, database)
    await run('deploy', dir, '--no-guard')
    const ask = asker(cpd, app.name)
    await until(`${app.name} answers`, () => ask('/').then(Boolean, () => false), LIVE_MS)
    await writesAndReads(app, ask, 'first')
    await run('services', 'restart', app.name)
    await writesAndReads(app, ask, 'behind a restart of the app')
    await run(app.kind, 'restart', database)
    await writesAndReads(app, ask, 'behind a restart of the database')
    if (app.kind === 'postgres') {
      const ends = 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = current_user AND pid <> pg_backend_pid()'
      await run('postgres', 'psql', database, '-c', ends)
      await writesAndReads(app, ask, 'behind a loss of all connections')
    }
  } catch (error) {
    const logs = await cpd.cpctl(['logs', app.name])
    throw new Error(`${error}\n${logs.stdout.slice(-SHOWN)}`, { cause: error })
  } finally {
    rmSync(parent, { recursive: true, force: true })
  }
}

async function cpctl(cpd: Compiled, args: string[]): Promise<void> {
  const { argv, env } = cpd.cpctlCommand(args)
  const { exitCode, stdout, stderr } = await runProcess(argv, { env, timeoutMs: DEPLOY_MS })
  if (exitCode !== 0) throw new Error(`cpctl ${args.join(' ')} ended with ${exitCode}: ${(stdout + stderr).slice(-SHOWN)}`)
}

/** An app may answer once or twice with the loss of its connection. */
async function writesAndReads(app: KnownApp, ask: Ask, row: string): Promise<void> {
  const isThere = async () => (await app.read(ask)).includes(row)
  await until(
    `${app.name} has taken "${row}"`,
    async () =>
      (await app
        .write(ask, row)
        .then(isThere, isThere)
        .catch(() => false)) === true,
    TAKEN_MS,
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
