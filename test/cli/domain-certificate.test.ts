import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { AppError } from '../../shared/error.ts'
import { exampleService, pageOf, serviceId } from './examples.ts'
import { type Answers, type FakeServer, startFakeServer } from './fake-server.ts'
import { cpctl, type TerminalOptions } from './terminal.ts'

let server: FakeServer
let dir: string

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'cpctl-'))
  writeFileSync(join(dir, 'chain.pem'), 'a chain')
  writeFileSync(join(dir, 'key.pem'), 'a key')
})

afterEach(async () => {
  expect(server.breaches).toEqual([])
  await server.stop()
  rmSync(dir, { recursive: true, force: true })
})

function serving(answers: Answers) {
  server = startFakeServer({ listServices: () => pageOf('service', [exampleService()]), ...answers })
  return (argv: string[], options: TerminalOptions = {}) =>
    cpctl(['domains', 'certificate', ...argv], { ...options, env: { CPCTL_URL: server.url, CPCTL_TOKEN: 'cpk_test' } })
}

const state = { status: 'uploaded' as const, issuer: 'Acme CA', expiresAt: '2026-05-01T00:00:00.000Z' }

test('set sends both files and tells until when the certificate lasts', async () => {
  const run = serving({ setDomainCertificate: () => state })
  const argv = ['set', 'web', 'www.shop.com', '--cert', join(dir, 'chain.pem'), '--key', join(dir, 'key.pem')]
  const { exitCode, stdout } = await run(argv)
  expect(exitCode).toBe(0)
  expect(stdout).toBe('www.shop.com is served with your certificate of Acme CA until 2026-05-01T00:00:00.000Z.\n')
  expect(server.received.at(-1)).toMatchObject({
    params: { serviceId, domainId: 'www.shop.com' },
    body: { certificate: 'a chain', privateKey: 'a key' },
  })
  expect(JSON.parse((await run([...argv, '--json'])).stdout)).toEqual(state)
})

test('a refusal of the server is shown as it stands', async () => {
  const message = 'The key does not belong to the certificate. Bring the one that the certificate was asked for with.'
  const run = serving({
    setDomainCertificate: () => {
      throw new AppError('validation_failed', message)
    },
  })
  const { exitCode, stderr } = await run(['set', 'web', 'www.shop.com', '--cert', join(dir, 'chain.pem'), '--key', join(dir, 'key.pem')])
  expect(exitCode).not.toBe(0)
  expect(stderr).toContain(message)
})

test('set without a key, with a file that is missing, or with standard input twice, asks the server nothing', async () => {
  const run = serving({})
  const cert = ['--cert', join(dir, 'chain.pem')]
  expect((await run(['set', 'web', 'www.shop.com', ...cert])).stderr).toContain('--key <file>')
  expect((await run(['set', 'web', 'www.shop.com', ...cert, '--key', join(dir, 'none.pem')])).stderr).toContain('Cannot read')
  expect((await run(['set', 'web', 'www.shop.com', '--cert', '-', '--key', '-'])).stderr).toContain('Only one of')
  expect(server.received).toEqual([])
})

test('remove says that another one is obtained', async () => {
  const run = serving({ removeDomainCertificate: () => undefined })
  const { exitCode, stdout } = await run(['remove', 'web', 'www.shop.com'])
  expect([exitCode, stdout]).toEqual([0, 'Your certificate of www.shop.com is removed. One is obtained in its place.\n'])
})
