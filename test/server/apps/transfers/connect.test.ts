import { chownSync, mkdtempSync, rmSync } from 'node:fs'
import { chmod } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectSource } from '../../../../server/apps/transfers/source/connect.ts'
import { withoutBinding } from '../../../../server/apps/transfers/source/unbound.ts'
import type { SourceDatabase } from '../../../../server/apps/transfers/source/url.ts'
import { openRelay } from '../../../../server/apps/transfers/tools/relay.ts'
import { runProcess } from '../../../../server/platform/process/spawn.ts'
import { parseIpRange } from '../../../../shared/ip-address.ts'
import { isRoot, NOBODY, type PostgresServer, startPostgres } from '../../../support/source-postgres.ts'

const open = { namedHosts: new Set<string>(), allowedRanges: ['127.0.0.0/8'].flatMap((cidr) => parseIpRange(cidr) ?? []) }
const closed = { namedHosts: new Set<string>(), allowedRanges: [] }
const dir = mkdtempSync(join(tmpdir(), 'source-'))
let encrypted: PostgresServer

beforeAll(async () => {
  await chmod(dir, 0o755)
  const [key, cert] = [join(dir, 'key.pem'), join(dir, 'cert.pem')]
  const subject = ['-subj', '/CN=db.example.com', '-addext', 'subjectAltName=DNS:db.example.com']
  await runProcess(['openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-keyout', key, '-out', cert, ...subject])
  await chmod(key, 0o600)
  if (isRoot) for (const file of [key, cert]) chownSync(file, NOBODY, NOBODY)
  encrypted = await startPostgres({ settings: { ssl: 'on', ssl_key_file: key, ssl_cert_file: cert } })
}, 60_000)
afterAll(async () => {
  await encrypted.close()
  rmSync(dir, { recursive: true, force: true })
})

const source = (sslMode: SourceDatabase['sslMode'], port: number): SourceDatabase => ({
  ...{ host: 'db.example.com', port, user: 'cpd_admin', password: encrypted.password, database: 'postgres', sslMode },
})

/** What a tool is told of its connection, which goes through a relay to the source. */
async function asked(sslMode: SourceDatabase['sslMode'], { port = encrypted.port, policy = open, address = '127.0.0.1' } = {}) {
  const folder = join(dir, crypto.randomUUID().slice(0, 8))
  const way = { policy, lookup: async () => [address], signal: new AbortController().signal }
  const relay = await openRelay(folder, {
    uid: process.getuid?.() ?? 0,
    open: () => connectSource(source(sslMode, port), way),
    rewrite: withoutBinding,
  })
  const query = 'SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()'
  const args = ['-h', folder, '-U', 'cpd_admin', '-d', 'postgres', '-w', '-Atc', query]
  const { stdout, stderr } = await runProcess([join(encrypted.programs, 'bin/psql'), ...args], { env: { PGPASSWORD: encrypted.password } })
  relay.close()
  return { answer: stdout.trim(), problem: stderr.trim() }
}

it('a source is read as its connection string asks: encrypted, or in clear', async () => {
  expect(await asked('require')).toEqual({ answer: 't', problem: '' })
  expect(await asked('prefer')).toEqual({ answer: 't', problem: '' })
  expect(await asked('disable')).toEqual({ answer: 'f', problem: '' })
})

it('a certificate that no authority has signed is refused where it is looked at', async () => {
  for (const mode of ['verify-ca', 'verify-full'] as const) {
    const { answer, problem } = await asked(mode)
    expect({ answer, problem }).toEqual({ answer: '', problem: expect.stringMatching(/self.signed certificate/i) })
  }
})

describe('a source that is none', () => {
  const answering = async (bytes: Uint8Array) => {
    const server = createServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', () => socket.write(bytes))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    return { server, port: typeof address === 'object' && address !== null ? address.port : 0 }
  }

  it.each([
    ['offers no encryption', Buffer.from('N'), /offers no encryption/],
    ['says more than it may', Buffer.from('Sand more'), /not that of PostgreSQL/],
    ['is a web server', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'), /not that of PostgreSQL/],
  ])('%s', async (_, bytes, problem) => {
    const { server, port } = await answering(bytes)
    expect((await asked('require', { port })).problem).toMatch(problem)
    server.close()
  })

  it('stands in a private network, whatever its name says', async () => {
    expect((await asked('require', { policy: closed })).problem).toMatch(/leads into a private network/)
    expect((await asked('require', { policy: closed, address: '169.254.169.254' })).problem).toMatch(/leads into a private network/)
    expect((await asked('require', { policy: closed, address: '::ffff:10.0.0.1' })).problem).toMatch(/leads into a private network/)
  })

  it('does not answer at its port', async () => {
    const { server, port } = await answering(Buffer.alloc(0))
    await new Promise((resolve) => server.close(resolve))
    expect((await asked('require', { port })).problem).toMatch(/could not be connected to/)
  })
})
