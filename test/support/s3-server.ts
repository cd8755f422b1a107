import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { type SpawnedProcess, spawnProcess } from '../../server/platform/process/spawn.ts'
import { freePorts } from './free-ports.ts'
import { until } from './until.ts'

/** A gateway of its own that keeps objects as files, and checks signatures. */
export interface S3Server {
  /** What the settings of backups say of it. */
  settings: {
    CP_BACKUP_S3_ENDPOINT: string
    CP_BACKUP_S3_REGION: string
    CP_BACKUP_S3_BUCKET: string
    CP_BACKUP_S3_ACCESS_KEY: string
    CP_BACKUP_S3_SECRET_KEY: string
    CP_BACKUP_S3_PREFIX: string
  }
  /** Folder of the bucket. */
  folder: string
  stop(): Promise<void>
  start(): Promise<void>
  close(): Promise<void>
}

export async function startS3(): Promise<S3Server> {
  const dir = mkdtempSync(join(tmpdir(), 's3-'))
  const folder = join(dir, 'backups')
  mkdirSync(folder)
  const [port = 0] = freePorts(1)
  let gateway: SpawnedProcess | undefined
  const server: S3Server = {
    settings: {
      CP_BACKUP_S3_ENDPOINT: `http://127.0.0.1:${port}`,
      CP_BACKUP_S3_REGION: 'us-east-1',
      CP_BACKUP_S3_BUCKET: 'backups',
      CP_BACKUP_S3_ACCESS_KEY: 'access',
      CP_BACKUP_S3_SECRET_KEY: 'secret-of-the-test',
      CP_BACKUP_S3_PREFIX: 'cpd/',
    },
    folder,
    async start() {
      const keys = ['--access', 'access', '--secret', 'secret-of-the-test']
      gateway = spawnProcess([program(), ...keys, '--quiet', '--port', `127.0.0.1:${port}`, 'posix', dir])
      await until(
        'the gateway answers',
        async () => (await fetch(server.settings.CP_BACKUP_S3_ENDPOINT).catch(() => undefined)) !== undefined,
      )
    },
    async stop() {
      gateway?.kill('SIGKILL')
      await gateway?.exited
    },
    async close() {
      await server.stop()
      rmSync(dir, { recursive: true, force: true })
    },
  }
  await server.start()
  return server
}

function program(): string {
  const found = Bun.which('versitygw') ?? join(process.env.GOPATH ?? join(homedir(), 'go'), 'bin', 'versitygw')
  if (!existsSync(found)) throw new Error('There is no versitygw. Run: bun .scripts/test-tools.ts')
  return found
}
