import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer, type Server, type TlsOptions } from 'node:tls'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runProcess } from '../../../../server/platform/process/spawn.ts'
import { makeCertificate } from '../../../support/certificates.ts'

let folder: string
let server: Server
let port: number
const names: string[] = []
const heads: string[] = []

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'cpd-outgoing-'))
  const authority = await makeCertificate({ subject: 'CN=Authority of the tests' })
  const { certificate, privateKey } = await makeCertificate({ names: ['provider.example'], issuer: authority })
  writeFileSync(join(folder, 'root.pem'), authority.certificate)
  const options: TlsOptions = {
    cert: certificate,
    key: privateKey,
    SNICallback(name, done) {
      names.push(name)
      done(null)
    },
  }
  server = createServer(options, (socket) => {
    socket.on('error', () => {})
    socket.once('data', (head) => {
      heads.push(head.toString())
      socket.end('HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close\r\n\r\nhello')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
})
afterAll(() => {
  server.close()
  rmSync(folder, { recursive: true })
})

async function send(host: string): Promise<string> {
  const child = join(import.meta.dirname, 'https-child.ts')
  const env = { PATH: process.env.PATH ?? '', NODE_EXTRA_CA_CERTS: join(folder, 'root.pem') }
  const { stdout } = await runProcess([process.execPath, child, `https://${host}:${port}/`, '127.0.0.1'], { env })
  return stdout.trim()
}

test('over https the checked address is connected to, and the name is what the certificate is verified against', async () => {
  expect(await send('provider.example')).toBe('200 hello')
  expect(names).toEqual(['provider.example'])
  expect(heads[0]).toContain(`Host: provider.example:${port}\r\n`)
})

test('a certificate of another name is refused, before anything is sent', async () => {
  expect(await send('other.example')).toBe('OutgoingProblem ERR_TLS_CERT_ALTNAME_INVALID')
  expect(heads.length).toBe(1)
})
