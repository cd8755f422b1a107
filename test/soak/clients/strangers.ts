import { randomBytes } from 'node:crypto'
import { resolve } from 'node:path'
import { runProcess, spawnProcess } from '../../../server/platform/process/spawn.ts'
import type { KeyValueConnectionInfo } from '../../../shared/key-value.ts'
import type { PostgresConnectionInfo } from '../../../shared/postgres.ts'
import { cancelRequest } from '../../server/ingress/databases/packets.ts'
import { call, cookieOf } from '../../support/client.ts'
import { until } from '../../support/until.ts'
import type { ClientsWorld } from './world.ts'

/** What another workspace has, and what it tries things with. */
interface Stranger {
  run(...args: string[]): Promise<string>
  postgres: PostgresConnectionInfo
  keyValue: KeyValueConnectionInfo
  postgresId: string
  keyValueId: string
}

const GUESSES = 2000
const AT_A_TIME = 50

/** Another workspace tries what is ours with what is its own, and the other way round. */
export async function strangers(world: ClientsWorld): Promise<{ tried: number; failures: string[] }> {
  const stranger = await settle(world)
  const tries = [...(await fromInside(world, stranger)), ...(await byPassword(world, stranger)), await byGuessedKeys(world)]
  return { tried: tries.length, failures: tries.flatMap(({ name, problem }) => (problem === undefined ? [] : [`${name}: ${problem}`])) }
}

interface Try {
  name: string
  problem?: string | undefined
}

async function settle({ cpd, certified }: ClientsWorld): Promise<Stranger> {
  const token = await keyOfStrangers(cpd)
  const there = async (...args: string[]) => {
    const { exitCode, stdout, stderr } = await cpd.cpctl(args, { env: { CPCTL_TOKEN: token } })
    if (exitCode !== 0) throw new Error(`cpctl ${args.join(' ')} ended with ${exitCode}: ${stdout}${stderr}`)
    return stdout
  }
  const made = async (kind: string, name: string) => {
    await there(kind, 'create', name, '--allow-ip', 'everywhere')
    return (JSON.parse(await there(kind, 'get', name, '--json')) as { id: string }).id
  }
  const [postgresId, keyValueId] = [await made('postgres', 'their-db'), await made('kv', 'their-cache')]
  await there('deploy', resolve('test/fixtures/apps/hello-js'), '--no-guard')
  await certified(postgresId)
  const { body: postgres } = await call<PostgresConnectionInfo>(`${cpd.apiUrl}/v1/postgres/${postgresId}/connection-info`, { token })
  const { body: keyValue } = await call<KeyValueConnectionInfo>(`${cpd.apiUrl}/v1/key-value/${keyValueId}/connection-info`, { token })
  return { run: there, postgresId, keyValueId, postgres, keyValue }
}

/** A key of a workspace that the administrator makes; the token of the tests is of the first one alone. */
async function keyOfStrangers({ apiUrl }: ClientsWorld['cpd']): Promise<string> {
  const login = { email: 'admin@localhost', password: 'correct horse battery' }
  const cookie = cookieOf(await call(`${apiUrl}/v1/auth/login`, { json: login }))
  const { body: workspace } = await call<{ id: string }>(`${apiUrl}/v1/workspaces`, {
    json: { name: 'strangers' },
    cookie,
    headers: { origin: apiUrl },
  })
  const headers = { 'x-workspace-id': workspace.id, origin: apiUrl }
  const { status, body } = await call<{ secret: string }>(`${apiUrl}/v1/api-keys`, {
    json: { name: 'strangers', role: 'admin' },
    cookie,
    headers,
  })
  if (status !== 201) throw new Error(`No key: ${status} ${JSON.stringify(body)}`)
  return body.secret
}

/** An app of theirs does not know our names, and does not get to the addresses either. */
async function fromInside(world: ClientsWorld, stranger: Stranger): Promise<Try[]> {
  const tries: Try[] = []
  for (const [id, port] of [
    [world.postgres.id, 5432],
    [world.keyValue.id, 6379],
  ] as const) {
    const [address = ''] = (await world.cpctl('run', 'javascript', '--', 'getent', 'hosts', id)).split(' ')
    for (const place of [id, address]) {
      const script = `timeout 5 bash -c 'exec 3<>/dev/tcp/${place}/${port}' && echo reached || echo refused`
      const ours = await world.cpctl('run', 'javascript', '--', script)
      const theirs = await stranger.run('run', 'hello-js', '--', script)
      tries.push({ name: `an app at ${place}`, problem: theirs.includes('reached') ? 'it got there' : undefined })
      if (!ours.includes('reached')) tries.push({ name: `an app of its own at ${place}`, problem: `it does not get there: ${ours}` })
    }
  }
  return tries
}

async function byPassword(world: ClientsWorld, stranger: Stranger): Promise<Try[]> {
  const [ours, theirs] = [(await world.postgres.info()).externalConnectionString, stranger.postgres.externalConnectionString]
  const [ourStore, theirStore] = [(await world.keyValue.info()).externalConnectionString, stranger.keyValue.externalConnectionString]
  const psqls = [
    await psql('their user at our database', withLogin(ours, theirs)),
    await psql('our user at their database', withLogin(theirs, ours)),
    await psql('our user in the database of their name', withLogin(ours, ours, new URL(theirs).pathname)),
    await psql('the platform at our database', withUser(ours, 'cpd_admin')),
    await psql('the backups at our database', withUser(ours, 'cpd_backup')),
  ]
  const { username, password } = new URL(ourStore)
  const clis = [
    await redisCli(world, 'their password at our store', withPassword(ourStore, theirStore), ['PING']),
    await redisCli(world, 'our password at their store', withPassword(theirStore, ourStore), ['PING']),
    await redisCli(world, 'our user over their connection', theirStore, ['AUTH', username, password]),
    await redisCli(world, 'the platform at our store', withUser(ourStore, 'cpd'), ['PING']),
  ]
  return [...psqls, ...clis]
}

function changed(url: string, change: (url: URL) => void): string {
  const parsed = new URL(url)
  change(parsed)
  return parsed.href
}

const withUser = (url: string, username: string) => changed(url, (parsed) => Object.assign(parsed, { username }))
const withPassword = (url: string, from: string) => changed(url, (parsed) => Object.assign(parsed, { password: new URL(from).password }))
const withLogin = (url: string, from: string, pathname = new URL(url).pathname) =>
  changed(url, (parsed) => {
    const { username, password } = new URL(from)
    Object.assign(parsed, { username, password, pathname })
  })

/** The settings of a connection for libpq, to this machine under the name of the database. */
function libpq(connection: string): string {
  const { hostname, port, username, password, pathname } = new URL(connection)
  const where = `host=${hostname} hostaddr=127.0.0.1 port=${port} dbname=${pathname.slice(1)} sslmode=require`
  return `${where} user=${username} password=${password}`
}

const psqlCommand = (connection: string, sql: string) => ['psql', '-XAtw', libpq(connection), '-c', sql]

async function psql(name: string, connection: string): Promise<Try> {
  const { exitCode, stdout, stderr } = await runProcess(psqlCommand(connection, 'SELECT 1'))
  const isRefused = exitCode !== 0 && /password authentication failed|does not exist|platform's own|permission denied/.test(stderr)
  return { name, problem: isRefused ? undefined : `${stdout}${stderr}` }
}

async function redisCli({ resolving, caFile }: ClientsWorld, name: string, connection: string, words: string[]): Promise<Try> {
  const { stdout, stderr } = await runProcess([...resolving, 'redis-cli', '-u', connection, '--cacert', caFile, ...words], {
    env: { PATH: process.env.PATH ?? '' },
  })
  return { name, problem: /WRONGPASS|NOAUTH|AUTH failed/.test(`${stdout}${stderr}`) ? undefined : `${stdout}${stderr}` }
}

/** Who knows the process of a connection, and not its key, cancels nothing, however often it is guessed. */
async function byGuessedKeys(world: ClientsWorld): Promise<Try> {
  const { externalConnectionString } = await world.postgres.info()
  const ask = async (sql: string) => (await runProcess(psqlCommand(externalConnectionString, sql))).stdout.trim()
  const running = spawnProcess(psqlCommand(externalConnectionString, "SELECT pg_sleep(30), 'done'"), { stdout: 'pipe', stderr: 'stdout' })
  const said = new Response(running.stdout).text()
  const pid = await until('the statement runs', async () =>
    Number(await ask("SELECT pid FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep(30)%'")),
  )
  const port = Number(new URL(externalConnectionString).port)
  for (let guess = 0; guess < GUESSES; guess += AT_A_TIME)
    await Promise.all(Array.from({ length: AT_A_TIME }, () => sendAndWait(port, cancelRequest(pid, randomBytes(4)))))
  world.say(`${GUESSES} requests to cancel were guessed`)
  const answer = await said
  return { name: `${GUESSES} guessed keys`, problem: answer.includes('done') ? undefined : answer }
}

function sendAndWait(port: number, bytes: Buffer): Promise<void> {
  const over = Promise.withResolvers<void>()
  const done = () => over.resolve()
  const socket = { open: (opened: Bun.Socket) => void opened.write(bytes), data() {}, end: done, close: done, error: done }
  void Bun.connect({ hostname: '127.0.0.1', port, socket }).catch(done)
  return over.promise
}
