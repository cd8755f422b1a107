import { chownSync, existsSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { runProcess, spawnProcess } from '../../server/platform/process/spawn.ts'
import { freePorts } from './free-ports.ts'
import { until } from './until.ts'

/** A PostgreSQL of this machine, on a port of 127.0.0.1, with `test_user` and the superuser `cpd_admin`, both of password `pw`, and the database `test_db`. */
export interface PostgresServer {
  port: number
  pid: number
  /** The folder of psql, pgbench and the like. */
  programs: string
  stop(): Promise<void>
}

const NOBODY = 65_534
/** Small, and sure of nothing: what is measured is not the disk. */
const settings = ['fsync=off', 'shared_buffers=16MB', 'max_connections=120', 'unix_socket_directories=', 'listen_addresses=127.0.0.1']

export const startPostgresServer = (...more: string[]): Promise<PostgresServer> => startPostgresServerIn(tmpdir(), more)

export async function startPostgresServerIn(parent: string, more: readonly string[]): Promise<PostgresServer> {
  const programs = programsOf()
  const dir = mkdtempSync(join(parent, 'cpd-postgres-'))
  const isRoot = process.getuid?.() === 0
  if (isRoot) chownSync(dir, NOBODY, NOBODY)
  // PostgreSQL refuses to run as root.
  const as = isRoot ? ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'] : []
  const run = async (argv: string[], input?: string) => {
    const { exitCode, stderr } = await runProcess([...as, ...argv], { cwd: dir, ...(input === undefined ? {} : { input }) })
    if (exitCode !== 0) throw new Error(`${argv[0]} failed: ${stderr}`)
  }
  const data = join(dir, 'data')
  await run([join(programs, 'initdb'), '-D', data, '-U', 'cpd_admin', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'])
  const sql = "ALTER ROLE cpd_admin PASSWORD 'pw';\nCREATE ROLE test_user LOGIN PASSWORD 'pw';\nCREATE DATABASE test_db OWNER test_user;\n"
  await run([join(programs, 'postgres'), '--single', '-D', data, 'postgres'], sql)
  await Bun.write(join(data, 'pg_hba.conf'), 'host all,replication all 127.0.0.1/32 scram-sha-256\n')
  const [port = 0] = freePorts(1)
  const options = [...settings, ...more, `port=${port}`].flatMap((setting) => ['-c', setting])
  const server = spawnProcess([...as, join(programs, 'postgres'), '-D', data, ...options], {
    cwd: dir,
    stderr: { appendTo: join(dir, 'log') },
  })
  await until(
    'PostgreSQL answers',
    async () => (await runProcess([join(programs, 'pg_isready'), '-h', '127.0.0.1', '-p', String(port)])).exitCode === 0,
  )
  return {
    port,
    pid: server.pid,
    programs,
    async stop() {
      server.kill('SIGQUIT')
      await server.exited
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

/** Debian keeps most of them out of the PATH. @throws Error naming the package where there is none. */
function programsOf(): string {
  const onPath = Bun.which('postgres')
  if (onPath !== null) return dirname(realpathSync(onPath))
  const debian = '/usr/lib/postgresql'
  const [newest] = existsSync(debian) ? readdirSync(debian).sort((one, other) => Number(other) - Number(one)) : []
  if (newest === undefined) throw new Error('This test needs PostgreSQL. On Debian: sudo apt-get install postgresql')
  return join(debian, newest, 'bin')
}
