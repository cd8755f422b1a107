import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { leftRecords } from '../../../../server/edge/certificates/acme/dns-hook.ts'
import { type Pebble, startPebble } from '../../../support/pebble.ts'
import { makeService } from '../../../support/service.ts'
import { until } from '../../../support/until.ts'
import { type Edge, keyFits, startEdge, startWorld, type World } from './world.ts'

let dir: string
let edge: Edge
let pebble: Pebble
let world: World
let hook: string

/** A program such as an operator has: it notes how it was called, and tells the resolver. */
function writeHook(resolverControl: string): string {
  const path = join(dir, 'hook')
  const script = `#!${process.execPath}
const [action, name, value] = process.argv.slice(2)
require('node:fs').appendFileSync('${join(dir, 'calls')}', JSON.stringify(process.argv.slice(2)) + '\\n')
require('node:fs').appendFileSync('${join(dir, 'env')}', JSON.stringify(process.env) + '\\n')
const body = JSON.stringify({ host: name + '.', value })
const reply = await fetch('${resolverControl}/' + (action === 'present' ? 'set-txt' : 'clear-txt'), { method: 'POST', body })
process.exit(reply.ok ? 0 : 1)
`
  writeFileSync(path, script)
  chmodSync(path, 0o755)
  return path
}

const calls = (): string[][] =>
  readFileSync(join(dir, 'calls'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as string[])

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'dns-hook-'))
  edge = startEdge()
  pebble = await startPebble({ httpPort: edge.port })
  hook = writeHook(pebble.resolverControl)
  const env = { CP_BASE_DOMAIN: 'apps.cloud.example', CP_ACME_DNS_HOOK: hook }
  world = await startWorld(pebble, edge, { env })
})

afterAll(async () => {
  await world?.close()
  await pebble?.close()
  edge.close()
  rmSync(dir, { recursive: true, force: true })
})

test('with a DNS hook all services share one wildcard, which needs no challenge at the ingress', async () => {
  world.poke()
  const leaf = await world.served('*.apps.cloud.example')
  expect(leaf.subjectAltName).toBe('DNS:*.apps.cloud.example')
  expect(keyFits(world, '*.apps.cloud.example')).toBe(true)
  expect(edge.tables.flatMap(({ challenges }) => challenges)).toEqual([])
  expect(world.status('shop.apps.cloud.example')).toMatchObject({ status: 'issued' })
})

test('the hook is called with an argument array, sees nothing of our environment, and removes what it has set', () => {
  const [present, cleanUp] = calls()
  expect(present).toEqual(['present', '_acme-challenge.apps.cloud.example', expect.stringMatching(/^[\w-]{43}$/)])
  expect(cleanUp).toEqual(['cleanup', ...(present ?? []).slice(1)])
  const [env = ''] = readFileSync(join(dir, 'env'), 'utf8').split('\n')
  expect(Object.keys(JSON.parse(env))).toEqual(['PATH'])
  expect(leftRecords(world.context.db)).toEqual([])
})

test('another service under the base domain needs no other certificate', async () => {
  await makeService(world.server, { type: 'web_service', name: 'second' })
  world.poke()
  await until('everything is looked at', () => world.status('second.apps.cloud.example').status === 'issued')
  expect(edge.table.certificates.flatMap(({ hosts }) => hosts)).toEqual(['*.apps.cloud.example'])
})

test('a record that a dead control plane has left is removed by the next one', async () => {
  world.context.db.query('INSERT INTO dns_challenges VALUES (?, ?, 0)').run('_acme-challenge.left.example', 'left')
  const other = await startWorld(pebble, edge, { env: { CP_ACME_DNS_HOOK: hook } })
  other.context.db.query('INSERT INTO dns_challenges VALUES (?, ?, 0)').run('_acme-challenge.left.example', 'left')
  other.poke()
  await until('it is removed', () => leftRecords(other.context.db).length === 0)
  expect(calls()).toContainEqual(['cleanup', '_acme-challenge.left.example', 'left'])
  await other.close()
})

test('a hook that fails is told of with what it said', async () => {
  writeFileSync(hook, "#!/bin/sh\necho 'the zone is locked' >&2\nexit 3\n")
  const other = await startWorld(pebble, edge, { env: { CP_ACME_DNS_HOOK: hook, CP_ACME_CHALLENGE: 'dns-01' } })
  other.add('locked.shop.example')
  await until('the try has failed', () => other.status('locked.shop.example').status === 'failed')
  expect(other.status('locked.shop.example').error).toMatch(/CP_ACME_DNS_HOOK.*Run it by hand.*the zone is locked/)
  await other.close()
})
