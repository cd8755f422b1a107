import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { runProcess, spawnProcess } from '../../server/platform/process/spawn.ts'
import { makeCertificate } from './certificates.ts'
import { freePorts } from './free-ports.ts'
import { GITEA_VERSION } from './gitea-version.ts'
import { until } from './until.ts'

/** A person at the Gitea, with a token that has the rights we ask for. */
export interface GiteaUser {
  name: string
  password: string
  token: string
}

/** A real Gitea over https on loopback, with a database of its own. */
export interface Gitea {
  url: string
  /** File with the certificate of its authority. */
  caFile: string
  addUser(name: string): Promise<GiteaUser>
  /** Asks its API as somebody. @throws where it refuses. */
  ask<T = Record<string, unknown>>(user: GiteaUser, method: string, path: string, json?: unknown): Promise<T>
  /** Makes a private repository with a first commit on main. */
  addRepository(user: GiteaUser, name: string): Promise<void>
  /** Commits a file to a branch, which pushes it. Returns the commit. */
  commit(user: GiteaUser, repository: string, file: string, branch?: string): Promise<string>
  close(): Promise<void>
}

const START_MS = 150_000
const STOP_MS = 10_000

export async function startGitea(): Promise<Gitea> {
  const program = Bun.which('gitea') ?? join(process.env.GOPATH ?? join(homedir(), 'go'), 'bin/gitea')
  if (!existsSync(program)) throw new Error('There is no gitea: npm run test:tools builds it.')
  const dir = mkdtempSync(join(tmpdir(), 'gitea-'))
  const [port = 0] = freePorts(1)
  const url = `https://localhost:${port}`
  const tls = await makeTls(dir)
  const config = join(dir, 'app.ini')
  writeFileSync(config, await configOf({ dir, port, url, tls, sources: await sourcesOf() }))
  const run = (...argv: string[]) => runProcess([program, '--config', config, ...argv], { env: environmentIn(dir), timeoutMs: START_MS })
  await succeeded(run('migrate'))
  const output = join(dir, 'output')
  const server = spawnProcess([program, '--config', config, 'web'], {
    env: environmentIn(dir),
    stdout: { appendTo: output },
    stderr: 'stdout',
  })
  const fetchIt = (path: string, init: RequestInit = {}) => fetch(url + path, { ...init, tls: { ca: tls.authority } })
  const close = async () => {
    // Asked to end, it waits for seconds.
    server.kill('SIGKILL')
    await server.exited
    rmSync(dir, { recursive: true, force: true })
  }
  try {
    await until('Gitea answers', async () => (await fetchIt('/api/v1/version').catch(() => undefined))?.ok, START_MS)
  } catch (error) {
    await close()
    throw error
  }

  const gitea: Gitea = {
    url,
    caFile: tls.authorityFile,
    async addUser(name) {
      const password = crypto.randomUUID()
      const rights = ['--must-change-password=false', '--access-token', '--access-token-scopes', 'read:user,write:repository,write:issue']
      const made = await succeeded(
        run('admin', 'user', 'create', '--username', name, '--password', password, '--email', `${name}@example.com`, ...rights),
      )
      const token = /\b[0-9a-f]{40}\b/.exec(made)?.[0]
      if (token === undefined) throw new Error(`Gitea gave no token: ${made}`)
      return { name, password, token }
    },
    async ask<T>(user: GiteaUser, method: string, path: string, json?: unknown): Promise<T> {
      const headers = { authorization: `Basic ${btoa(`${user.name}:${user.password}`)}`, 'content-type': 'application/json' }
      const response = await fetchIt(`/api/v1${path}`, { method, headers, ...(json !== undefined && { body: JSON.stringify(json) }) })
      const text = await response.text()
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
      return (text === '' ? undefined : JSON.parse(text)) as T
    },
    async addRepository(user, name) {
      await gitea.ask(user, 'POST', '/user/repos', { name, private: true, auto_init: true, default_branch: 'main' })
    },
    async commit(user, repository, file, branch = 'main') {
      const json = { content: btoa(crypto.randomUUID()), message: `Add ${file}`, branch }
      const path = `/repos/${user.name}/${repository}/contents/${file}`
      return (await gitea.ask<{ commit: { sha: string } }>(user, 'POST', path, json)).commit.sha
    },
    close,
  }
  return gitea
}

const environmentIn = (dir: string) => ({ PATH: process.env.PATH ?? '', HOME: dir, GITEA_WORK_DIR: dir })

async function succeeded(running: ReturnType<typeof runProcess>): Promise<string> {
  const { exitCode, stdout, stderr } = await running
  if (exitCode !== 0) throw new Error(`gitea failed: ${stderr}${stdout}`)
  return stdout
}

interface Tls {
  authority: string
  authorityFile: string
  cert: string
  key: string
}

async function makeTls(dir: string): Promise<Tls> {
  const authority = await makeCertificate({})
  const server = await makeCertificate({ names: ['localhost'], issuer: authority })
  const files = { 'ca.pem': authority.certificate, 'cert.pem': server.certificate, 'key.pem': server.privateKey }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text, { mode: 0o600 })
  const file = (name: string) => join(dir, name)
  return { authority: authority.certificate, authorityFile: file('ca.pem'), cert: file('cert.pem'), key: file('key.pem') }
}

/** Templates and lists of names are read from where Go keeps the module: its front end, which is not there, the API does without. */
async function sourcesOf(): Promise<string> {
  const go = Bun.which('go') ?? '/usr/local/go/bin/go'
  const { stdout } = await runProcess([go, 'env', 'GOMODCACHE'], {
    env: { PATH: process.env.PATH ?? '', HOME: homedir() },
    timeoutMs: STOP_MS,
  })
  return join(stdout.trim(), `code.gitea.io/gitea@${GITEA_VERSION}`)
}

interface Configured {
  dir: string
  port: number
  url: string
  tls: Tls
  sources: string
}

async function configOf({ dir, port, url, tls, sources }: Configured): Promise<string> {
  const user = (await runProcess(['id', '-un'], { env: { PATH: process.env.PATH ?? '' }, timeoutMs: STOP_MS })).stdout.trim()
  mkdirSync(join(dir, 'data'), { recursive: true })
  const sections: Record<string, Record<string, string | number>> = {
    '': { I_AM_BEING_UNSAFE_RUNNING_AS_ROOT: 'true', RUN_USER: user, RUN_MODE: 'prod', WORK_PATH: dir },
    server: {
      PROTOCOL: 'https',
      HTTP_ADDR: '127.0.0.1',
      HTTP_PORT: port,
      DOMAIN: 'localhost',
      ROOT_URL: `${url}/`,
      CERT_FILE: tls.cert,
      KEY_FILE: tls.key,
      STATIC_ROOT_PATH: sources,
      OFFLINE_MODE: 'true',
      DISABLE_SSH: 'true',
    },
    database: { DB_TYPE: 'sqlite3' },
    // People of the tests sign in with each request.
    security: { PASSWORD_HASH_ALGO: 'pbkdf2$1$50', INSTALL_LOCK: 'true', SECRET_KEY: crypto.randomUUID() },
    webhook: { ALLOWED_HOST_LIST: 'loopback' },
    service: { DISABLE_REGISTRATION: 'true' },
    indexer: { ISSUE_INDEXER_TYPE: 'db' },
    log: { MODE: 'console', LEVEL: 'warn' },
    ...Object.fromEntries(['actions', 'packages', 'mirror', 'cron'].map((name) => [name, { ENABLED: 'false' }])),
  }
  const lines = Object.entries(sections).flatMap(([name, values]) => [
    ...(name === '' ? [] : [`[${name}]`]),
    ...Object.entries(values).map(([key, value]) => `${key} = ${value}`),
  ])
  return `${lines.join('\n')}\n`
}
