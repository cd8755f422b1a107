import { mkdtempSync, rmSync } from 'node:fs'
import { chmod, chown, mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SQL } from 'bun'
import { runProcess, type SpawnedProcess, spawnProcess } from '../../server/platform/process/spawn.ts'
import { freePorts } from './free-ports.ts'
import { sharedPrograms } from './programs.ts'
import { until } from './until.ts'

/** PostgreSQL refuses to run as root. */
export const NOBODY = 65_534
export const isRoot = process.getuid?.() === 0

/** Folder of the PostgreSQL inside the executable, or of the newest that the machine has. */
export async function postgresPrograms(): Promise<string> {
  const programs = await sharedPrograms()
  const [newest] = programs.available('postgres')
  if (newest === undefined) throw new Error('There is no PostgreSQL. Run: bun .scripts/programs/programs.ts')
  return await programs.ensure(newest.name)
}

export const majorOf = (programs: string): number =>
  Number(/(\d+)/.exec(Bun.spawnSync([join(programs, 'bin', 'postgres'), '--version']).stdout.toString())?.[1])

export interface PostgresServer {
  programs: string
  port: number
  password: string
  data: string
  sql: SQL
  start(): Promise<void>
  kill(): Promise<void>
  stop(): Promise<void>
  close(): Promise<void>
}

export const asNobody = isRoot ? ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', '--'] : []

/** A server of its own on loopback, with `data` as its cluster if there is one. */
export async function startPostgres({
  data: given,
  settings = {},
}: {
  data?: string
  settings?: Record<string, string>
} = {}): Promise<PostgresServer> {
  const programs = await postgresPrograms()
  const dir = mkdtempSync(join(tmpdir(), 'postgres-'))
  if (isRoot) await chown(dir, NOBODY, NOBODY)
  await chmod(dir, 0o755)
  const data = given ?? join(dir, 'data')
  const [port = 0] = freePorts(1)
  const password = 'pass-of-the-test'
  if (given === undefined) await initialise(programs, { dir, data, password })
  let server: SpawnedProcess | undefined
  const sqlOf = () =>
    new SQL({ adapter: 'postgres', hostname: '127.0.0.1', port, username: 'cpd_admin', password, database: 'postgres', max: 2, tls: false })
  const made: PostgresServer = {
    ...{ programs, port, password, data },
    sql: sqlOf(),
    async start() {
      const major = majorOf(programs)
      const all = {
        port: String(port),
        listen_addresses: '127.0.0.1',
        unix_socket_directories: '',
        fsync: 'off',
        wal_level: 'replica',
        ...(major >= 17 && { summarize_wal: 'on' }),
        ...settings,
      }
      const args = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
      server = spawnProcess([...asNobody, join(programs, 'bin', 'postgres'), '-D', data, ...args], {
        cwd: '/',
        stdout: { appendTo: join(dir, 'log') },
        stderr: 'stdout',
        detached: true,
      })
      made.sql = sqlOf()
      await until(
        'the server answers',
        async () =>
          await made.sql`SELECT 1`.then(
            () => true,
            () => false,
          ),
      )
    },
    async kill() {
      await made.sql.close({ timeout: 0 })
      server?.kill('SIGKILL')
      await server?.exited
    },
    async stop() {
      await made.sql.close({ timeout: 0 })
      server?.kill('SIGINT')
      await server?.exited
    },
    async close() {
      await made.stop()
      rmSync(dir, { recursive: true, force: true })
    },
  }
  await made.start()
  return made
}

async function initialise(programs: string, { dir, data, password }: { dir: string; data: string; password: string }): Promise<void> {
  await mkdir(join(dir, 'init'))
  const passwords = join(dir, 'init', 'password')
  await Bun.write(passwords, password)
  const { exitCode, stderr } = await runProcess(
    [
      ...asNobody,
      ...[join(programs, 'bin', 'initdb'), '--pgdata', data, '--username=cpd_admin', '--auth=scram-sha-256', `--pwfile=${passwords}`],
      ...['--no-sync', '--encoding=UTF8', '--locale=C', '--data-checksums'],
    ],
    { cwd: '/', env: { PATH: '/usr/bin:/bin' } },
  )
  if (exitCode !== 0) throw new Error(stderr)
}
