/**
 * The way in to a Postgres beside the way past it, by pgbench: `npm run bench postgres-ingress`. Both take turns; figures are medians. TLS
 * ends in the ingress, while direct connections speak without it, as through the private name.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createIngressClient } from '../../server/ingress/control/client.ts'
import { ensureIngress } from '../../server/ingress/process/supervise.ts'
import { runProcess } from '../../server/platform/process/spawn.ts'
import { PG_HOST, PG_ID, postgresAt } from '../server/ingress/databases/world.ts'
import { makeCertificate } from '../support/certificates.ts'
import { freePorts } from '../support/free-ports.ts'
import { startPostgresServer } from '../support/postgres-server.ts'
import { cpuMicrosOf } from './ingress/world.ts'

const ROUNDS = 3
const SECONDS = 4
const program = fileURLToPath(new URL('../server/ingress/processes/ingress-program.ts', import.meta.url))

const kinds = [
  { name: 'select, 8 clients', args: ['-S', '-M', 'prepared', '-c', '8', '-j', '2'] },
  { name: 'select, 64 clients', args: ['-S', '-M', 'prepared', '-c', '64', '-j', '2'] },
  { name: 'TPC-B, 8 clients', args: ['-M', 'prepared', '-c', '8', '-j', '2'] },
  { name: 'new connections', args: ['-S', '-C', '-c', '4', '-j', '2'] },
] as const

interface Figures {
  perSecond: number
  cpuMicros: number
}

export async function run(): Promise<void> {
  const server = await startPostgresServer()
  const dir = mkdtempSync(join(tmpdir(), 'cpd-bench-postgres-'))
  const [http = 0, tls = 0, postgres = 0] = freePorts(3)
  const at = (name: string) => join(dir, name)
  const client = createIngressClient(at('ingress.sock'))
  const files = [at('ingress.sock'), at('routes.json'), '1', String(tls), at('certificates.json'), String(postgres)]
  try {
    await ensureIngress({
      ...{ command: [process.execPath, program, String(http), ...files], controlSocketPath: at('ingress.sock') },
      ...{ outputPath: at('ingress.log'), listen: { host: '127.0.0.1', port: http }, version: '1', log: () => {} },
      listenTls: { host: '127.0.0.1', port: tls },
    })
    const { certificate, privateKey } = await makeCertificate({ names: [PG_HOST] })
    await Bun.write(at('root.pem'), certificate)
    await client.publish({ version: 1, hosts: {}, databases: { [PG_ID]: postgresAt(server.port) } })
    const served = { id: 'crt-a', hosts: [PG_HOST], certificate, sealedKey: privateKey, isTrusted: true }
    await client.publishCertificates({ version: 1, certificates: [served], challenges: [] })
    const { pid } = await client.status()
    const login = 'user=test_user password=pw dbname=test_db'
    const ways = {
      direct: `host=127.0.0.1 port=${server.port} sslmode=disable ${login}`,
      ingress: `host=${PG_HOST} hostaddr=127.0.0.1 port=${postgres} sslmode=verify-full sslrootcert=${at('root.pem')} ${login}`,
    }
    const pgbench = (way: string, args: readonly string[]) => runProcess(['pgbench', ...args, way])
    await pgbench(ways.direct, ['-i', '-q', '-s', '10'])
    for (const { name, args } of kinds) {
      const taken: Record<keyof typeof ways, Figures[]> = { direct: [], ingress: [] }
      await pgbench(ways.ingress, [...args, '-n', '-T', '2'])
      for (let round = 0; round < ROUNDS; round++) {
        for (const way of ['direct', 'ingress'] as const) {
          const before = cpuMicrosOf(pid)
          const { stdout, stderr } = await pgbench(ways[way], [...args, '-n', '-T', String(SECONDS)])
          const perSecond = Number(/tps = ([\d.]+)/.exec(stdout)?.[1])
          const transactions = Number(/actually processed: (\d+)/.exec(stdout)?.[1])
          if (!(perSecond > 0)) throw new Error(`pgbench failed: ${stderr}`)
          taken[way].push({ perSecond, cpuMicros: (cpuMicrosOf(pid) - before) / transactions })
        }
      }
      print(name, medianOf(taken.direct), medianOf(taken.ingress))
    }
  } finally {
    await client.shutdown().catch(() => undefined)
    await server.stop()
    rmSync(dir, { recursive: true, force: true })
  }
}

function medianOf(figures: readonly Figures[]): Figures {
  const median = figures.toSorted((one, other) => one.perSecond - other.perSecond)[Math.floor(figures.length / 2)]
  if (median === undefined) throw new Error('Nothing was measured')
  return median
}

function print(name: string, direct: Figures, ingress: Figures): void {
  const ratio = (ingress.perSecond / direct.perSecond).toFixed(2)
  console.log(
    `  ${name.padEnd(20)} direct ${Math.round(direct.perSecond)}/s, through the ingress ${Math.round(ingress.perSecond)}/s (×${ratio}), CPU of the ingress ${ingress.cpuMicros.toFixed(1)} µs each`,
  )
}

if (import.meta.main) {
  await run()
  process.exit(0)
}
