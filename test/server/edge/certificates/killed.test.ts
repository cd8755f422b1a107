import { Database } from 'bun:sqlite'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createService } from '../../../support/apps.ts'
import { call } from '../../../support/client.ts'
import { type ControlPlane, startControlPlane } from '../../../support/control-plane.ts'
import { chooseIngressPorts, type IngressPorts } from '../../../support/ingress.ts'
import { type Pebble, startPebble } from '../../../support/pebble.ts'
import { until } from '../../../support/until.ts'
import { type Front, startFront } from './front.ts'

let ports: IngressPorts
let pebble: Pebble
let front: Front
let plane: ControlPlane
let root: string
/** Where the control plane is to be killed, once. */
let trap: { path: string; moment: 'before' | 'after' } | undefined
let killed: Promise<void> | undefined

async function spring(moment: 'before' | 'after', path: string): Promise<void> {
  if (trap === undefined || trap.moment !== moment || !path.startsWith(trap.path)) return
  trap = undefined
  killed = plane.kill()
  await killed
}

beforeAll(async () => {
  ports = await chooseIngressPorts()
  pebble = await startPebble({ httpPort: ports.http, tlsPort: ports.https })
  root = await pebble.issuerRoot()
  front = startFront(pebble, {
    before: async (path) => {
      const wasSet = trap !== undefined
      await spring('before', path)
      // Nobody hears this: the one who asked is dead.
      return wasSet && trap === undefined ? new Response(null, { status: 500 }) : undefined
    },
    after: (path) => spring('after', path),
  })
  const acme = { CP_ACME_DIRECTORY: front.directory, CP_ACME_ROOT: pebble.rootFile, CP_BASE_DOMAIN: 'killed.example' }
  plane = await startControlPlane(acme, { tls: ports })
})

afterAll(async () => {
  await plane?.close()
  front?.close()
  await pebble?.close()
})

/** Whether the ingress serves this host with a certificate of the authority. */
const isServed = (host: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port: ports.https, servername: host, ca: root }, () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => resolve(false))
  })

const orders = (): number => front.paths.filter((path) => path === '/order-plz').length

test('an account is opened once, also when two control planes die over it', async () => {
  for (const moment of ['before', 'after'] as const) {
    killed = undefined
    trap = { path: '/sign-me-up', moment }
    if (moment === 'before') await createService(plane, { name: 'first', type: 'web_service' })
    // The server may die before it says that it serves.
    else await plane.start().catch(() => undefined)
    await until('it was killed', () => killed !== undefined)
    await killed
  }
  await plane.start()
  await until('the certificate is served', () => isServed('first.killed.example'))
  expect(orders()).toBe(1)
})

describe('the next control plane brings to its end what one has left that was killed', () => {
  // The last one: how many orders it takes in all.
  test.each<[string, string, 'before' | 'after', number]>([
    ['the order is placed', '/order-plz', 'before', 2],
    ['the order was placed', '/order-plz', 'after', 2],
    ['the authorization is read', '/authZ/', 'before', 1],
    ['the answer to the challenge is shown', '/chalZ/', 'before', 1],
    ['the authority was told to look', '/chalZ/', 'after', 1],
    ['the order is finalized', '/finalize-order/', 'before', 1],
    ['the order was finalized', '/finalize-order/', 'after', 1],
    ['the order is looked at', '/my-order/', 'before', 1],
    ['the certificate is fetched', '/certZ/', 'before', 1],
    ['the certificate was fetched', '/certZ/', 'after', 1],
  ])('when %s', async (when, path, moment, expected) => {
    const name = `w${Bun.hash(when).toString(36)}`
    const before = orders()
    killed = undefined
    trap = { path, moment }
    const id = await createService(plane, { name, type: 'web_service' })
    await until('it was killed', () => killed !== undefined)
    await killed
    await plane.start()
    await until('the certificate is served', () => isServed(`${name}.killed.example`))
    expect(orders() - before).toBe(expected)
    expect(readFileSync(join(plane.dataDir, 'run', 'certificates.json'), 'utf8')).not.toContain('PRIVATE KEY')
    await call(`${plane.url}/v1/services/${id}`, { method: 'DELETE', token: plane.adminToken })
    await until('no challenge is left', () =>
      readFileSync(join(plane.dataDir, 'run', 'certificates.json'), 'utf8').includes('"challenges":[]'),
    )
  })
})

test('a revocation that was cut off is finished by the next control plane', async () => {
  const id = await createService(plane, { name: 'gone', type: 'web_service' })
  await until('the certificate is served', () => isServed('gone.killed.example'))
  killed = undefined
  trap = { path: '/revoke-cert', moment: 'before' }
  await call(`${plane.url}/v1/services/${id}`, { method: 'DELETE', token: plane.adminToken })
  await until('it was killed', () => killed !== undefined)
  await killed
  await plane.start()
  await until('it is not served', async () => !(await isServed('gone.killed.example')))
  await plane.stop()
  const db = new Database(join(plane.dataDir, 'db', 'control.db'), { readonly: true })
  expect(db.query("SELECT host FROM certificates WHERE host LIKE 'gone%' AND removed_at IS NULL").all()).toEqual([])
  db.close()
  await plane.start()
})

test('no key was written in clear, to the log or the disk', () => {
  const files = ['db/control.db', 'db/control.db-wal', 'run/certificates.json'].map((file) => join(plane.dataDir, file))
  const written = files.map((file) => readFileSync(file, 'latin1')).join('') + plane.logged()
  expect(written).toContain('BEGIN CERTIFICATE')
  expect(written).not.toContain('PRIVATE KEY')
})
