import { afterEach, expect, test } from 'vitest'
import type { CustomDomain } from '../../shared/custom-domain.ts'
import { AppError } from '../../shared/error.ts'
import { exampleService, pageOf, serviceId } from './examples.ts'
import { type Answers, type FakeServer, startFakeServer } from './fake-server.ts'
import { cpctl, type TerminalOptions } from './terminal.ts'

let server: FakeServer
afterEach(async () => {
  expect(server.breaches).toEqual([])
  await server.stop()
})

const domainId = 'cdm-0b1c2d3e4f5g6h7i8j9k'
const example = (fields: Partial<CustomDomain> = {}): CustomDomain => ({
  id: domainId,
  name: 'www.shop.com',
  domainType: 'subdomain',
  publicSuffix: 'com',
  redirectForName: '',
  verificationStatus: 'unverified',
  createdAt: '2026-02-01T11:00:00.000Z',
  server: { id: serviceId, name: 'web' },
  dnsRecords: [
    { type: 'CNAME', name: 'www.shop.com', value: 'web.apps.acme.com' },
    { type: 'TXT', name: '_cpd-challenge.www.shop.com', value: 'cpd-abc' },
  ],
  certificate: { status: 'none' },
  isCheckPending: false,
  ...fields,
})
const found = (outcome: 'verified' | 'not_found', message: string) => ({
  lastCheck: { checkedAt: '2026-02-01T11:01:00.000Z', outcome, message, found: [] },
})
const verified = example({ verificationStatus: 'verified', ...found('verified', 'www.shop.com leads to web.apps.acme.com.') })

function serving(answers: Answers) {
  server = startFakeServer({ listServices: () => pageOf('service', [exampleService()]), ...answers })
  return (argv: string[], options: TerminalOptions = {}) =>
    cpctl(['domains', ...argv], { ...options, env: { CPCTL_URL: server.url, CPCTL_TOKEN: 'cpk_test' } })
}

const records = `TYPE   NAME                         VALUE
CNAME  www.shop.com                 web.apps.acme.com
TXT    _cpd-challenge.www.shop.com  cpd-abc
`

test('add prints the records to set as a table, and what happens next', async () => {
  const run = serving({ createCustomDomain: () => [example()] })
  const { exitCode, stdout, stderr } = await run(['add', 'web', 'WWW.shop.com'])
  expect(exitCode).toBe(0)
  expect(stdout).toBe(records)
  expect(stderr).toBe(`Added www.shop.com to web. Set the CNAME record, or the TXT record, where its DNS is kept:
The CNAME record brings people here; TXT alone proves the name while it still leads elsewhere.
Once it is verified it leads to web. DNS is looked at each minute for an hour, then hourly for three days.
To wait for it: cpctl domains verify web www.shop.com --wait
`)
  expect(server.received.at(-1)?.body).toEqual({ name: 'WWW.shop.com' })
  expect(JSON.parse((await run(['add', 'web', 'www.shop.com', '--json'])).stdout)).toEqual([example()])
})

test('add of an apex names both kinds of addresses, and says so where none is known', async () => {
  const [, txt] = example().dnsRecords
  const a = { type: 'A', name: 'shop.com', value: '203.0.113.7' } as const
  const aaaa = { type: 'AAAA', name: 'shop.com', value: '2001:db8::7' } as const
  let dnsRecords = [a, aaaa, ...(txt ? [txt] : [])] as CustomDomain['dnsRecords']
  const run = serving({ createCustomDomain: () => [example({ name: 'shop.com', domainType: 'apex', dnsRecords })] })
  expect((await run(['add', 'web', 'shop.com'])).stderr).toContain('Set the A and AAAA records, or the TXT record, where its DNS is kept:')
  dnsRecords = txt ? [txt] : []
  expect((await run(['add', 'web', 'shop.com'])).stderr).toContain('ask the operator for CP_PUBLIC_ADDRESSES')
})

test('add shows what the server refuses, and why', async () => {
  const run = serving({
    createCustomDomain: () => {
      throw new AppError('conflict', 'www.shop.com is taken on this server.')
    },
  })
  expect(await run(['add', 'web', 'www.shop.com'])).toMatchObject({
    exitCode: 1,
    stdout: '',
    stderr: 'Error: www.shop.com is taken on this server.\n',
  })
  expect(await run(['add', 'web'])).toMatchObject({ exitCode: 2 })
})

test('list shows how each domain stands, its records when asked for, and how to add the first', async () => {
  let page = [example(found('not_found', 'DNS has no address for www.shop.com.')), { ...verified, name: 'shop.com' }]
  const run = serving({ listCustomDomains: () => pageOf('customDomain', page) })
  expect((await run(['list', 'web'])).stdout).toBe(`DOMAIN        STATUS      CERTIFICATE  LAST LOOK AT DNS
www.shop.com  unverified  none         DNS has no address for www.shop.com.
shop.com      verified    none         www.shop.com leads to web.apps.acme.com.
`)
  expect(JSON.parse((await run(['list', '--json'])).stdout)).toHaveLength(2)
  page = [example()]
  expect((await run(['list', '--records'])).stdout).toBe(records)
  page = []
  expect(await run(['ls'])).toMatchObject({
    stdout: '',
    stderr: 'web has no domains of its own. Add one with cpctl domains add web <domain>.\n',
  })
})

test('verify asks for a look, and with --wait tells what it found', async () => {
  const states = [example({ isCheckPending: true }), verified]
  const run = serving({ verifyCustomDomain: () => undefined, getCustomDomain: () => states.shift() ?? verified })
  expect(await run(['verify', 'web', 'www.shop.com'])).toMatchObject({
    exitCode: 0,
    stdout: 'DNS of www.shop.com is being looked at. cpctl domains list web shows what is found.\n',
  })
  expect(server.received.at(-1)).toMatchObject({ id: 'verifyCustomDomain', params: { serviceId, domainId: 'www.shop.com' } })
  expect(await run(['verify', 'web', 'www.shop.com', '--wait'])).toMatchObject({
    exitCode: 0,
    stdout: 'www.shop.com is verified: www.shop.com leads to web.apps.acme.com.\n',
  })
  expect(states).toEqual([])
  expect(JSON.parse((await run(['verify', 'web', domainId, '--wait', '--json'])).stdout)).toEqual(verified)
})

test('verify --wait ends with what was found when its time is over', async () => {
  const state = example(found('not_found', 'DNS has no address for www.shop.com.'))
  const run = serving({ verifyCustomDomain: () => undefined, getCustomDomain: () => state })
  expect(await run(['verify', 'web', 'www.shop.com', '--wait', '--timeout', '1s'])).toMatchObject({
    exitCode: 1,
    stdout: '',
    stderr: `Error: www.shop.com is not verified. DNS has no address for www.shop.com.
Records may take a while to be known everywhere; it is looked at again by itself. See cpctl domains list web.
`,
  })
  expect(await run(['verify', 'web', 'www.shop.com', '--timeout', 'soon'])).toMatchObject({ exitCode: 2 })
})

test('verify --wait tells each finding once and ends quietly on Ctrl-C', async () => {
  const stopper = new AbortController()
  const state = example(found('not_found', 'DNS has no address for www.shop.com.'))
  const run = serving({ verifyCustomDomain: () => undefined, getCustomDomain: () => state })
  const { Interrupted } = await import('../../cli/base/error.ts')
  const onOutput = () => stopper.abort(new Interrupted())
  expect(await run(['verify', 'web', 'www.shop.com', '--wait'], { interrupted: stopper.signal, onOutput })).toMatchObject({
    exitCode: 130,
    stderr: 'DNS has no address for www.shop.com.\n',
  })
})

test('remove wants the name typed, or --yes', async () => {
  const run = serving({ getCustomDomain: () => example(), deleteCustomDomain: () => undefined })
  expect(await run(['remove', 'web', domainId], { typed: ['www.shop.com'] })).toMatchObject({
    exitCode: 0,
    stdout: 'Removed www.shop.com: it leads to web no longer.\n',
  })
  expect(server.received.at(-1)).toMatchObject({ id: 'deleteCustomDomain', params: { serviceId, domainId } })
  expect(await run(['rm', 'web', 'www.shop.com'], { typed: ['no'] })).toMatchObject({ exitCode: 2 })
  expect(await run(['rm', 'web', 'www.shop.com'])).toMatchObject({ exitCode: 2 })
  expect(server.received.filter(({ id }) => id === 'deleteCustomDomain')).toHaveLength(1)
  expect(await run(['rm', 'web', 'www.shop.com', '-y', '--json'])).toMatchObject({ exitCode: 0, stdout: '' })
})

test('text of strangers is inert on the terminal', async () => {
  const run = serving({ listCustomDomains: () => pageOf('customDomain', [example(found('not_found', 'evil \u001b[31mred\u0007'))]) })
  expect((await run(['list', 'web'])).stdout).toContain('evil red\n')
})
