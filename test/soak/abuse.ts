import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { percentile } from '../../server/boot/doctor/percentile.ts'
import { createIngressClient, type IngressClient } from '../../server/ingress/control/client.ts'
import { keyPurpose } from '../../server/ingress/tables/certificate-table.ts'
import type { Route } from '../../server/ingress/tables/route-table.ts'
import { type SpawnedProcess, spawnProcess } from '../../server/platform/process/spawn.ts'
import { openSealer } from '../../server/platform/secrets/seal.ts'
import { residentMibOf } from '../bench/ingress/world.ts'
import { makeCertificate } from '../support/certificates.ts'
import { freePorts } from '../support/free-ports.ts'
import { until } from '../support/until.ts'
import { HOSTILE_HOST, hostileRoute, writeHostileSite } from './abuse/hostile-site.ts'
import { type Outcome, progress } from './outcome.ts'

export interface AbuseOptions {
  /** Each attack lasts so long. */
  seconds: number
  attacks: readonly string[]
  /** The `cpd` that is attacked. */
  executable: string
}

const QUIET_HOST = 'quiet.abuse.test'
/** A site of the quiet tenant, of which each look is one at the disk: what is missing is not remembered. */
const QUIET_SITE = 'quiet-site.abuse.test'
const QUIET_SECONDS = 10
const PROBE_EVERY_MS = 10
const SAMPLE_EVERY_MS = 500
/** After which memory is given back. */
const AFTERMATH_MS = 5000
const MAX_MIB = 600

interface Figures {
  p99Ms: number
  failed: number
  peakMib: number
  peakDescriptors: number
}

interface Attacked {
  ingress: SpawnedProcess
  client: IngressClient
  ports: { http: number; https: number }
  root: string
}

/** Attacks an ingress in several ways, one after the other, and watches it and a quiet tenant before, meanwhile and after. */
export async function abuse({ seconds, attacks, executable }: AbuseOptions): Promise<Outcome> {
  const dir = mkdtempSync(join(tmpdir(), 'cpd-abuse-'))
  const failures: string[] = []
  const quiet = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response('quiet') })
  let attacked: Attacked | undefined
  let version = 0
  try {
    attacked = await startIngress(dir, resolve(executable))
    const { client, root, ports } = attacked
    writeHostileSite(root)
    for (const attack of attacks) {
      const quietSite: Route = {
        kind: 'static',
        serviceId: 'srv-site',
        name: 'quiet site',
        releaseId: 'rel-1',
        root: dir,
        headers: [],
        rules: [],
      }
      const quietRoute = { kind: 'proxy', serviceId: 'srv-quiet', name: 'quiet' } as const
      const targets = [{ instanceId: 'ins-quiet', host: '127.0.0.1', port: quiet.port ?? 0 }]
      const publish = (appPort: number) =>
        client.publish({
          version: ++version,
          hosts: { [QUIET_HOST]: { ...quietRoute, targets }, [QUIET_SITE]: quietSite, [HOSTILE_HOST]: hostileRoute(root, attack, appPort) },
        })
      await publish(0)
      const before = await watch(attacked, QUIET_SECONDS)
      const attacker = spawnProcess(
        [process.execPath, resolve('test/soak/abuse/attacks-child.ts'), attack, String(ports.http), String(ports.https)],
        { stdout: 'pipe' },
      )
      const appPort = await begun(attacker)
      if (appPort > 0) await publish(appPort)
      const during = await watch(attacked, seconds)
      attacker.kill('SIGKILL')
      await attacker.exited
      await Bun.sleep(AFTERMATH_MS)
      const after = await watch(attacked, QUIET_SECONDS)
      for (const [name, figures] of Object.entries({ before, during, after })) progress(`${attack} ${name}: ${describe(figures)}`)
      if (during.failed > 0) failures.push(`${attack}: ${during.failed} requests of the quiet tenant failed`)
      if (during.peakMib > MAX_MIB) failures.push(`${attack}: the ingress took ${Math.round(during.peakMib)} MiB`)
    }
  } catch (error) {
    failures.push(error instanceof Error ? error.message : String(error))
  } finally {
    attacked?.ingress.kill('SIGKILL')
    await attacked?.ingress.exited
    await quiet.stop(true)
    rmSync(dir, { recursive: true, force: true })
  }
  return { summary: `${attacks.join(', ')} for ${seconds} s each`, failures }
}

async function startIngress(dir: string, executable: string): Promise<Attacked> {
  const [http = 0, https = 0] = freePorts(2)
  const at = (file: string) => join(dir, file)
  const root = at('site')
  mkdirSync(root)
  const sealer = openSealer(at('master.key'))
  const listen = ['--listen', `127.0.0.1:${http}`, '--listen-tls', `127.0.0.1:${https}`]
  const files = ['--socket', at('control.sock'), '--routes', at('routes.json'), '--certificates', at('certificates.json')]
  const ingress = spawnProcess(
    [executable, 'ingress', ...listen, ...files, '--master-key', at('master.key'), '--access-log', at('access')],
    {
      stdout: { appendTo: at('output.log') },
      stderr: 'stdout',
    },
  )
  const client = createIngressClient(at('control.sock'))
  await until('the ingress answers', () => client.status().catch(() => undefined))
  const { certificate, privateKey } = await makeCertificate({ names: ['*.abuse.test'] })
  const served = {
    id: 'crt-abuse',
    hosts: ['*.abuse.test'],
    certificate,
    sealedKey: sealer.seal(privateKey, keyPurpose('crt-abuse')),
    isTrusted: false,
  }
  await client.publishCertificates({ version: 1, certificates: [served], challenges: [] })
  return { ingress, client, ports: { http, https }, root }
}

/** Waits until the attack has begun, and gives the port of its app, or 0. */
async function begun({ stdout }: SpawnedProcess): Promise<number> {
  const reader = stdout?.getReader()
  let text = ''
  while (!text.includes('on\n')) {
    const { value, done } = (await reader?.read()) ?? { value: undefined, done: true }
    if (done) throw new Error('The attack did not begin')
    text += new TextDecoder().decode(value)
  }
  reader?.releaseLock()
  return Number.parseInt(text, 10) || 0
}

/** Asks for the quiet tenant again and again, and looks at the ingress. */
async function watch({ ingress, ports }: Attacked, seconds: number): Promise<Figures> {
  const tookMs: number[] = []
  const figures = { failed: 0, peakMib: 0, peakDescriptors: 0 }
  const end = performance.now() + seconds * 1000
  let sampleAt = 0
  while (performance.now() < end) {
    const from = performance.now()
    const ask = async (host: string, status: number) => {
      const response = await fetch(`http://127.0.0.1:${ports.http}/`, { headers: { host } })
      await response.text()
      return response.status === status
    }
    const isAnswered = await (tookMs.length % 2 === 0 ? ask(QUIET_HOST, 200) : ask(QUIET_SITE, 404)).catch(() => false)
    tookMs.push(performance.now() - from)
    if (!isAnswered) figures.failed++
    if (from >= sampleAt) {
      sampleAt = from + SAMPLE_EVERY_MS
      figures.peakMib = Math.max(figures.peakMib, residentMibOf(ingress.pid))
      figures.peakDescriptors = Math.max(figures.peakDescriptors, readdirSync(`/proc/${ingress.pid}/fd`).length)
    }
    await Bun.sleep(PROBE_EVERY_MS)
  }
  return { ...figures, p99Ms: percentile(tookMs, 0.99) }
}

const describe = ({ p99Ms, failed, peakMib, peakDescriptors }: Figures): string =>
  `quiet tenant p99 ${p99Ms.toFixed(1)} ms, ${failed} failed; ingress at most ${Math.round(peakMib)} MiB and ${peakDescriptors} descriptors`
