import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runProcess, type SpawnedProcess, spawnProcess } from '../../server/platform/process/spawn.ts'
import { freePorts } from './free-ports.ts'
import { until } from './until.ts'

export interface PebbleOptions {
  /** Where the authority looks for HTTP-01 answers: the ingress's port. */
  httpPort: number
  /** Where it looks for TLS-ALPN-01 answers: the ingress's TLS port. */
  tlsPort?: number
  validitySeconds?: number
  /** How many percent of good nonces it refuses. */
  nonceRejectPercent?: number
  /** Names it refuses to certify. */
  blocklist?: string[]
  /** Keys of external accounts by id, base64url; then no other account is opened. */
  externalAccounts?: Record<string, string>
  /** How many seconds it asks to wait before an order is looked at again. */
  retryAfterSeconds?: number
}

/** Let's Encrypt's test authority with a resolver of its own, both on loopback. Every name resolves to 127.0.0.1 unless set. */
export interface Pebble {
  /** URL of its directory, for CP_ACME_DIRECTORY. */
  directory: string
  /** File with the root of the directory's own TLS, for CP_ACME_ROOT. */
  rootFile: string
  /** Its TLS key and certificate, for a server that stands in front of it under the same address. */
  tls: { cert: string; key: string }
  /** `127.0.0.1:port` of the resolver that the authority asks. */
  resolver: string
  /** URL of the resolver's management, for programs that set records themselves. */
  resolverControl: string
  /** PEM of the root that the certificates it issues lead to; another one after each start. */
  issuerRoot(): Promise<string>
  /** Certificates are asked for by their serial number in hex. */
  statusOf(serial: string): Promise<'Valid' | 'Revoked' | undefined>
  /** Tells the resolver something: `/set-txt`, `/add-a`, `/set-cname`, `/add-caa`, `/set-servfail`, and `/clear-…` of each. */
  resolve(path: string, body: Record<string, unknown>): Promise<void>
  /** What it has written so far. */
  output(): string
  stop(): Promise<void>
  /** At the same address again, with no memory of accounts, orders or certificates. */
  start(): Promise<void>
  close(): Promise<void>
}

export async function startPebble(options: PebbleOptions): Promise<Pebble> {
  const programs = await findPrograms()
  const dir = mkdtempSync(join(tmpdir(), 'pebble-'))
  const [port = 0, managementPort = 0, dnsPort = 0, dnsManagementPort = 0, unusedTlsPort = 0] = freePorts(5)
  const tls = await makeTls(dir)
  const config = configOf({ ...options, tlsPort: options.tlsPort ?? unusedTlsPort }, { dir, port, managementPort })
  writeFileSync(join(dir, 'pebble.json'), JSON.stringify({ pebble: config }))
  const resolver = `127.0.0.1:${dnsPort}`
  const resolverControl = `http://127.0.0.1:${dnsManagementPort}`
  const outputFile = join(dir, 'output')
  const dns = spawnProcess(resolverCommand(programs.resolver, resolver, dnsManagementPort), {
    stdout: { appendTo: outputFile },
    stderr: 'stdout',
  })
  let authority: SpawnedProcess | undefined
  const ask = (path: string) => fetch(`https://127.0.0.1:${managementPort}${path}`, { tls: { ca: tls.cert } })
  const pebble: Pebble = {
    directory: `https://127.0.0.1:${port}/dir`,
    rootFile: join(dir, 'cert.pem'),
    tls,
    resolver,
    resolverControl,
    issuerRoot: async () => await (await ask('/roots/0')).text(),
    async statusOf(serial) {
      const reply = await ask(`/cert-status-by-serial/${serial.toLowerCase()}`)
      return reply.ok ? ((await reply.json()) as { Status: 'Valid' | 'Revoked' }).Status : undefined
    },
    async resolve(path, body) {
      const reply = await fetch(`${resolverControl}${path}`, { method: 'POST', body: JSON.stringify(body) })
      if (!reply.ok) throw new Error(`The resolver answered ${reply.status} to ${path}`)
    },
    output: () => readFileSync(outputFile, 'utf8'),
    async stop() {
      authority?.kill('SIGKILL')
      await authority?.exited
    },
    async start() {
      const env = {
        PEBBLE_VA_NOSLEEP: '1',
        PEBBLE_WFE_NONCEREJECT: String(options.nonceRejectPercent ?? 0),
        // Whether an earlier validation counts would otherwise be left to chance.
        PEBBLE_AUTHZREUSE: '0',
      }
      const command = [programs.pebble, '-config', join(dir, 'pebble.json'), '-dnsserver', resolver]
      authority = spawnProcess(command, { env, stdout: { appendTo: outputFile }, stderr: 'stdout' })
      await until('Pebble answers', async () => (await fetch(pebble.directory, { tls: { ca: tls.cert } }).catch(() => undefined))?.ok)
    },
    async close() {
      await pebble.stop()
      dns.kill('SIGKILL')
      await dns.exited
      rmSync(dir, { recursive: true, force: true })
    },
  }
  await until('the resolver answers', async () => (await fetch(resolverControl).catch(() => undefined)) !== undefined)
  await pebble.start()
  return pebble
}

export async function findPrograms(): Promise<{ pebble: string; resolver: string }> {
  const folders = [...(process.env.PATH ?? '').split(':'), join(await goPath(), 'bin')]
  const find = (name: string) => {
    const found = folders.map((folder) => join(folder, name)).find(existsSync)
    if (found !== undefined) return found
    throw new Error(`${name} is missing: go install github.com/letsencrypt/pebble/v2/cmd/${name}@latest`)
  }
  return { pebble: find('pebble'), resolver: find('pebble-challtestsrv') }
}

async function goPath(): Promise<string> {
  const env = { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '' }
  const found = await runProcess(['go', 'env', 'GOPATH'], { env }).catch(() => undefined)
  return found?.stdout.trim() || join(env.HOME, 'go')
}

function resolverCommand(program: string, address: string, managementPort: number): string[] {
  const none = ['-http01', '', '-https01', '', '-tlsalpn01', '', '-doh', '']
  // One address for a name: the authority would wait for a second one that nobody listens at.
  return [program, '-dnsserver', address, '-management', `127.0.0.1:${managementPort}`, '-defaultIPv6', '', ...none]
}

function configOf(options: PebbleOptions, at: { dir: string; port: number; managementPort: number }): Record<string, unknown> {
  return {
    listenAddress: `127.0.0.1:${at.port}`,
    managementListenAddress: `127.0.0.1:${at.managementPort}`,
    certificate: join(at.dir, 'cert.pem'),
    privateKey: join(at.dir, 'key.pem'),
    httpPort: options.httpPort,
    tlsPort: options.tlsPort,
    ocspResponderURL: '',
    externalAccountBindingRequired: options.externalAccounts !== undefined,
    externalAccountMACKeys: options.externalAccounts ?? {},
    domainBlocklist: options.blocklist ?? ['blocked-domain.example'],
    retryAfter: { authz: options.retryAfterSeconds ?? 1, order: options.retryAfterSeconds ?? 1 },
    keyAlgorithm: 'ecdsa',
    profiles: { default: { description: 'Of the tests', validityPeriod: options.validitySeconds ?? 90 * 24 * 3600 } },
  }
}

/** A certificate of its own for loopback, its own root. */
async function makeTls(dir: string): Promise<Pebble['tls']> {
  const [key, cert] = [join(dir, 'key.pem'), join(dir, 'cert.pem')]
  const names = ['-subj', '/CN=pebble of a test', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1']
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2']
  const env = { PATH: process.env.PATH ?? '' }
  const made = await runProcess(['openssl', 'req', ...kind, ...names, '-keyout', key, '-out', cert], { env })
  if (made.exitCode !== 0) throw new Error(`openssl is needed (apt install openssl): ${made.stderr}`)
  return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
}
