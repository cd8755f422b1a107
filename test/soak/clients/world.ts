import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { servicePathsOf } from '../../../server/platform/paths.ts'
import { runProcess } from '../../../server/platform/process/spawn.ts'
import type { KeyValueConnectionInfo } from '../../../shared/key-value.ts'
import type { PostgresConnectionInfo } from '../../../shared/postgres.ts'
import { type Compiled, startCompiled } from '../../support/compiled.ts'
import { serviceNamed } from '../../support/compiled-steps.ts'
import { freePorts } from '../../support/free-ports.ts'
import { chooseIngressPorts } from '../../support/ingress.ts'
import { startPebble } from '../../support/pebble.ts'
import { until } from '../../support/until.ts'
import { clientPrograms } from './programs.ts'

/** A database and a store, both ways to them, and a release for each language that clients stand in. */
export interface ClientsWorld {
  cpd: Compiled
  caFile: string
  /** Begins a command for which names of the base domain lead to this machine. */
  resolving: readonly string[]
  /** Returns when a name has its certificate at the port of databases. */
  certified(id: string): Promise<void>
  postgres: { id: string; info(): Promise<PostgresConnectionInfo> }
  keyValue: { id: string; info(): Promise<KeyValueConnectionInfo> }
  /** The release of a service, as this machine sees it. */
  releaseOf(app: string): Promise<string>
  cpctl(...args: string[]): Promise<string>
  say(text: string): void
  close(): Promise<void>
}

const BASE = 'apps.test'
const CERTIFIED_MS = 120_000

export async function startClientsWorld(say: (text: string) => void): Promise<ClientsWorld> {
  const home = mkdtempSync(join(tmpdir(), 'cpd-clients-'))
  const ports = await chooseIngressPorts()
  const [postgresPort = 0, keyValuePort = 0] = freePorts(2)
  const pebble = await startPebble({ httpPort: ports.http, tlsPort: ports.https })
  const cpd = await startCompiled({
    ingressPort: ports.http,
    env: {
      CP_BASE_DOMAIN: BASE,
      CP_INGRESS_HTTPS: `127.0.0.1:${ports.https}`,
      CP_INGRESS_POSTGRES: `127.0.0.1:${postgresPort}`,
      CP_INGRESS_KEY_VALUE: `127.0.0.1:${keyValuePort}`,
      CP_ACME_DIRECTORY: pebble.directory,
      CP_ACME_ROOT: pebble.rootFile,
      CP_DNS_RESOLVER: pebble.resolver,
    },
  })
  const close = async () => {
    await cpd.stop()
    await pebble.close()
    rmSync(home, { recursive: true, force: true })
  }
  try {
    const cpctl = async (...args: string[]) => {
      const { exitCode, stdout, stderr } = await cpd.cpctl(args)
      if (exitCode !== 0) throw new Error(`cpctl ${args.join(' ')} ended with ${exitCode}: ${stdout}${stderr}`)
      return stdout
    }
    const made = async (kind: 'postgres' | 'kv', name: string) => {
      await cpctl(kind, 'create', name, '--allow-ip', 'everywhere')
      return (JSON.parse(await cpctl(kind, 'get', name, '--json')) as { id: string }).id
    }
    const [postgres, keyValue] = [await made('postgres', 'db'), await made('kv', 'cache')]
    await deployClients(home, { cpctl, say })
    const caFile = join(home, 'root.pem')
    writeFileSync(caFile, await pebble.issuerRoot())
    const resolving = resolvingTo(home, [`${postgres}.${BASE}`, `kv.${BASE}`])
    const world: ClientsWorld = {
      cpd,
      caFile,
      resolving,
      certified: (id) => hasCertificate(`${id}.${BASE}`, { port: postgresPort, caFile, how: ['-starttls', 'postgres'] }),
      postgres: { id: postgres, info: async () => (await cpd.api<PostgresConnectionInfo>(`/postgres/${postgres}/connection-info`)).body },
      keyValue: { id: keyValue, info: async () => (await cpd.api<KeyValueConnectionInfo>(`/key-value/${keyValue}/connection-info`)).body },
      async releaseOf(app) {
        const { id } = await serviceNamed(cpd, app)
        const { releases } = servicePathsOf(cpd.paths, id)
        return join(releases, readdirSync(releases)[0] ?? '')
      },
      cpctl,
      say,
      close,
    }
    await world.certified(postgres)
    await hasCertificate(`kv.${BASE}`, { port: keyValuePort, caFile, how: [] })
    return world
  } catch (error) {
    await close()
    throw error
  }
}

async function deployClients(home: string, { cpctl, say }: Pick<ClientsWorld, 'cpctl' | 'say'>): Promise<void> {
  const fixtures = resolve('test/fixtures/clients')
  for (const app of ['javascript', 'python']) {
    const dir = join(home, app)
    cpSync(join(fixtures, app), dir, { recursive: true })
    if (app === 'javascript') await clientPrograms(dir)
    say(`deploying the clients in ${app}`)
    await cpctl('deploy', dir, '--no-guard')
  }
}

/** A namespace of its own in which /etc/hosts knows the names, so that the machine's stays as it is. */
function resolvingTo(home: string, names: readonly string[]): string[] {
  const hosts = join(home, 'hosts')
  writeFileSync(hosts, `127.0.0.1 localhost ${names.join(' ')}\n`)
  return ['unshare', '--mount', 'sh', '-c', `mount --bind ${hosts} /etc/hosts && exec "$@"`, 'sh']
}

async function hasCertificate(host: string, { port, caFile, how }: { port: number; caFile: string; how: string[] }): Promise<void> {
  const verify = ['-verify_return_error', '-CAfile', caFile]
  const command = ['openssl', 's_client', '-connect', `127.0.0.1:${port}`, '-servername', host, ...verify, ...how]
  const isServed = async () => (await runProcess(command, { input: '' })).stdout.includes('Verify return code: 0')
  await until(`${host} has its certificate`, isServed, CERTIFIED_MS)
}
