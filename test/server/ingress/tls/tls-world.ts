import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type CertificateTable, keyPurpose, type ServedCertificate } from '../../../../server/ingress/tables/certificate-table.ts'
import { runProcess } from '../../../../server/platform/process/spawn.ts'
import { createSealer } from '../../../../server/platform/secrets/seal.ts'
import { makeCertificate, type TestCertificate } from '../../../support/certificates.ts'
import { startWorld, type World, type WorldOptions } from '../world.ts'

export type Challenge = CertificateTable['challenges'][number]

export interface TlsWorld extends World {
  tlsPort: number
  /** Makes a certificate for these hosts, issued by an authority that only `rootFile` knows. */
  certify(id: string, hosts: string[], options?: Partial<ServedCertificate>): Promise<ServedCertificate>
  /** Publishes this as the next version. */
  serve(certificates: ServedCertificate[], rest?: Partial<CertificateTable>): Promise<void>
  tlsChallenge(host: string): Promise<Challenge>
  seal(key: string, purpose: string): string
  /** PEM of the authority, as text and as a file. */
  root: string
  rootFile: string
}

/** A real ingress that speaks TLS, with sealed keys as in production. */
export async function startTlsWorld(options: Omit<WorldOptions, 'tls'> = {}): Promise<TlsWorld> {
  const sealer = createSealer(Buffer.alloc(32, 7))
  const authority = await makeCertificate({ subject: 'Test root' })
  const dir = mkdtempSync(join(tmpdir(), 'cpd-tls-'))
  const rootFile = join(dir, 'root.pem')
  writeFileSync(rootFile, authority.certificate)
  const world = await startWorld({ ...options, tls: { listen: { host: '127.0.0.1', port: 0 }, openKey: sealer.open } })
  let version = 0
  const seal = (key: string, purpose: string) => sealer.seal(key, purpose)
  const issue = (names: string[]): Promise<TestCertificate> => makeCertificate({ names, issuer: authority })
  return {
    ...world,
    tlsPort: world.ingress.tlsAddress?.port ?? 0,
    root: authority.certificate,
    rootFile,
    seal,
    async certify(id, hosts, overrides = {}) {
      const { certificate, privateKey } = await issue(hosts)
      return { id, hosts, certificate, sealedKey: seal(privateKey, keyPurpose(id)), isTrusted: true, ...overrides }
    },
    serve: (certificates, rest = {}) => world.client.publishCertificates({ version: ++version, certificates, challenges: [], ...rest }),
    async tlsChallenge(host) {
      const { certificate, privateKey } = await issue([`challenge.${host}`])
      return { kind: 'tls-alpn', host, certificate, sealedKey: seal(privateKey, keyPurpose(`challenge:${host}`)) }
    },
    close: async () => {
      await world.close()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

export interface Greeting {
  /** The first name in the certificate; undefined when none was shown. */
  name: string | undefined
  protocol: string | undefined
  version: string | undefined
  isResumed: boolean
  isTrusted: boolean
  alert: string | undefined
  output: string
}

/** What OpenSSL's own client makes of the server. Without a name it names none. */
export async function greet(
  { tlsPort, rootFile }: Pick<TlsWorld, 'tlsPort' | 'rootFile'>,
  name: string | undefined,
  ...args: string[]
): Promise<Greeting> {
  const naming = name === undefined ? ['-noservername'] : ['-servername', name]
  const command = ['openssl', 's_client', '-connect', `127.0.0.1:${tlsPort}`, '-CAfile', rootFile, ...naming, ...args]
  // Tickets of TLS 1.3 come behind the handshake: a client that leaves at once gets none.
  const input = args.includes('-ign_eof') ? `GET / HTTP/1.1\r\nHost: ${name}\r\nConnection: close\r\n\r\n` : ''
  const { stdout, stderr } = await runProcess(command, { input })
  const output = `${stdout}\n${stderr}`
  return {
    name: /subject=.*?CN ?= ?([^\s,]+)/.exec(output)?.[1],
    protocol: /ALPN protocol: (\S+)/.exec(output)?.[1],
    version: /(?:New|Reused), (TLSv[\d.]+)/.exec(output)?.[1],
    isResumed: output.includes('Reused, '),
    isTrusted: output.includes('Verify return code: 0 (ok)'),
    alert: /alert ([a-z ]+):/.exec(output)?.[1] ?? /(?:tlsv1|sslv3) ([a-z ]+):/.exec(output)?.[1],
    output,
  }
}

/** curl's answer: head, body, and what it says of itself. */
export async function curl(world: Pick<TlsWorld, 'rootFile' | 'tlsPort' | 'port'>, url: string, ...args: string[]): Promise<string> {
  const host = new URL(url).hostname
  const to = [world.tlsPort, world.port].flatMap((port) => ['--resolve', `${host}:${port}:127.0.0.1`])
  const { stdout } = await runProcess(['curl', '-s', '-i', '--cacert', world.rootFile, ...to, ...args, url])
  return stdout
}
