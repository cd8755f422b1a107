import { mkdtempSync, rmSync } from 'node:fs'
import { type ClientHttp2Session, connect } from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createIngressClient, type IngressClient } from '../../../../server/ingress/control/client.ts'
import { ensureIngress, type IngressStart } from '../../../../server/ingress/process/supervise.ts'
import { makeCertificate } from '../../../support/certificates.ts'
import { freePorts } from '../../../support/free-ports.ts'
import { proxyTo } from '../world.ts'
import { startEchoUpstream } from './hand-over-load.ts'

const ingressProgram = fileURLToPath(new URL('../processes/ingress-program.ts', import.meta.url))

let dir: string
let client: IngressClient
let upstream: ReturnType<typeof startEchoUpstream>
let ports: { http: number; tls: number }
let root: string

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'cpd-hand-over-tls-'))
  client = createIngressClient(join(dir, 'ingress.sock'))
  upstream = startEchoUpstream()
  const [http = 0, tls = 0] = freePorts(2)
  ports = { http, tls }
  const { certificate, privateKey } = await makeCertificate({ names: ['a.test'] })
  root = certificate
  await ensureIngress(wanted(1))
  await client.publish({ version: 1, hosts: { 'a.test': proxyTo(upstream.port) } })
  const served = { id: 'crt-a', hosts: ['a.test'], certificate, sealedKey: privateKey, isTrusted: false }
  await client.publishCertificates({ version: 1, certificates: [served], challenges: [] })
})

afterEach(async () => {
  await client.shutdown().catch(() => undefined)
  upstream.stop()
  rmSync(dir, { recursive: true, force: true })
})

function wanted(version: number): IngressStart {
  const at = (name: string) => join(dir, name)
  const files = [at('ingress.sock'), at('routes.json'), String(version), String(ports.tls), at('certificates.json')]
  return {
    command: [process.execPath, ingressProgram, String(ports.http), ...files],
    controlSocketPath: at('ingress.sock'),
    outputPath: at('ingress.log'),
    listen: { host: '127.0.0.1', port: ports.http },
    listenTls: { host: '127.0.0.1', port: ports.tls },
    version: String(version),
    log: () => {},
  }
}

/** Requests over HTTP/2 without end, several at a time; a new connection is made when the old one is to be left. */
function startHttp2Load(): { stop(): Promise<{ count: number; connections: number; failures: string[] }> } {
  const failures: string[] = []
  let [isStopped, count, connections] = [false, 0, 0]
  let current: ClientHttp2Session | undefined
  const session = (): ClientHttp2Session => {
    if (current !== undefined) return current
    connections++
    const opened = connect(`https://127.0.0.1:${ports.tls}`, { ca: root, servername: 'a.test' })
    const leave = () => {
      if (current === opened) current = undefined
    }
    for (const event of ['goaway', 'close', 'error']) opened.on(event, leave)
    current = opened
    return opened
  }
  const run = async (path: string) => {
    while (!isStopped) {
      count++
      const answer = await request(session(), path).catch((error) => `failed: ${error.message}`)
      if (!answer.startsWith(`200 GET ${path} 0`)) failures.push(answer)
      await Bun.sleep(2)
    }
  }
  const running = Promise.all([run('/'), run('/'), run('/slow'), run('/slow')])
  return {
    async stop() {
      isStopped = true
      await running
      current?.close()
      return { count, connections, failures }
    },
  }
}

function request(session: ClientHttp2Session, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ':path': path, ':authority': 'a.test' })
    let text = ''
    stream.on('response', (headers) => {
      text = `${headers[':status']} `
    })
    stream.setEncoding('utf8')
    stream.on('data', (part: string) => {
      text += part
    })
    stream.on('end', () => resolve(text))
    stream.on('error', reject)
    stream.on('close', () => reject(new Error(`closed after ${JSON.stringify(text)}`)))
    stream.end()
  })
}

test('10 hand-overs lose no request over HTTP/2: clients are asked to leave, and what they had sent is answered', async () => {
  const load = startHttp2Load()
  for (let version = 2; version <= 11; version++) {
    await ensureIngress(wanted(version))
    expect((await client.status()).version).toBe(String(version))
    await Bun.sleep(150)
  }
  const { count, connections, failures } = await load.stop()
  expect(failures).toEqual([])
  expect(connections).toBeGreaterThan(5)
  console.info(`10 hand-overs over HTTP/2: ${count} requests on ${connections} connections, 0 lost`)
}, 120_000)
