import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { createIngressClient } from '../../../../server/ingress/control/client.ts'
import { ensureIngress, type IngressStart } from '../../../../server/ingress/process/supervise.ts'
import { keyPurpose } from '../../../../server/ingress/tables/certificate-table.ts'
import { openSealer } from '../../../../server/platform/secrets/seal.ts'
import { makeCertificate } from '../../../support/certificates.ts'
import { eventually, ok, proxyTo, startRawUpstream } from '../world.ts'

const program = fileURLToPath(new URL('../../../../server/boot/main.ts', import.meta.url))

/** One new connection with one request. @throws Error when it is not answered whole. */
function visit(port: number, ca: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = connect({ host: '127.0.0.1', port, servername: 'a.test', ca }, () =>
      socket.write('GET / HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n'),
    )
    socket.on('data', (part) => {
      text += part
    })
    socket.on('error', reject)
    socket.on('close', () => (text.endsWith('fine') ? resolve() : reject(new Error(`answered ${JSON.stringify(text)}`))))
  })
}

test('the TLS listener of `cpd ingress` is handed over, with what it had become meanwhile, and no client is refused', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'cpd-tls-hand-over-'))
  const file = (name: string) => join(dir, name)
  const files = ['--socket', file('s'), '--routes', file('routes.json'), '--certificates', file('certificates.json')]
  const addresses = ['--listen', '127.0.0.1:0', '--listen-tls', '127.0.0.1:0', '--connections-per-address', '0']
  const start: IngressStart = {
    command: [process.execPath, program, 'ingress', ...addresses, ...files, '--master-key', file('master.key')],
    controlSocketPath: file('s'),
    outputPath: file('out'),
    listen: { host: '127.0.0.1', port: 0 },
    listenTls: { host: '127.0.0.1', port: 0 },
    // None is ever the wanted one: each call hands over.
    version: 'another',
    log: () => {},
  }
  const sealer = openSealer(file('master.key'))
  const client = createIngressClient(file('s'))
  const upstream = startRawUpstream((socket) => void socket.write(ok('fine')))
  const { certificate, privateKey } = await makeCertificate({ names: ['a.test'] })
  writeFileSync(file('root.pem'), certificate)
  const served = { id: 'c1', hosts: ['a.test'], certificate, sealedKey: sealer.seal(privateKey, keyPurpose('c1')), isTrusted: true }
  const challenge = { kind: 'tls-alpn' as const, host: 'b.test', certificate, sealedKey: served.sealedKey }
  let version = 0
  const publish = (rest: object) => client.publishCertificates({ version: ++version, certificates: [served], challenges: [], ...rest })
  try {
    await ensureIngress(start)
    await client.publish({ version: 1, hosts: { 'a.test': proxyTo(upstream.port) } })
    await publish({})
    const { listenTls } = await client.status()
    let isOver = false
    let visits = 0
    const visitor = async () => {
      for (; !isOver; visits++) await visit(listenTls?.port ?? 0, certificate)
    }
    const load = Promise.all([visitor(), visitor()])
    for (const rest of [{ fallbackId: 'c1' }, { challenges: [challenge] }, {}]) {
      await publish(rest)
      const before = await client.status()
      await ensureIngress(start)
      const after = await client.status()
      expect(after.pid).not.toBe(before.pid)
      expect(after.listenTls).toEqual(listenTls)
    }
    isOver = true
    await load
    expect(visits).toBeGreaterThan(20)
  } finally {
    await client.shutdown().catch(() => undefined)
    await eventually(async () => (await client.status().catch(() => undefined)) === undefined)
    upstream.stop()
    rmSync(dir, { recursive: true, force: true })
  }
})
