import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Environment, Project } from '../../shared/project.ts'
import { createService, deployApp } from '../support/apps.ts'
import { call } from '../support/client.ts'
import { type Platform, startPlatform } from '../support/platform.ts'
import { greeterApp, held, hold, probe, proberApp } from '../support/prober.ts'
import { until } from '../support/until.ts'

/** Two environments of one project, of which one is isolated, and a service of the workspace that is in none. */
let platform: Platform
let production: Environment
let staging: Environment
const ids: Record<string, string> = {}

const send = async <T>(method: string, path: string, json?: unknown): Promise<T> => {
  const { status, body } = await call<T>(`${platform.url}/v1${path}`, {
    method,
    token: platform.adminToken,
    ...(json !== undefined && { json }),
  })
  if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(body)}`)
  return body
}

async function deployTo(
  environment: Environment | undefined,
  name: string,
  archive: Promise<Uint8Array<ArrayBuffer>>,
  type = 'web_service',
) {
  ids[name] = await createService(platform, { name, type, ...(environment && { environmentId: environment.id }) })
  await deployApp(platform, ids[name], await archive)
}

const isolate = (environment: Environment, isIsolated: boolean) =>
  send('PATCH', `/environments/${environment.id}`, { networkIsolationEnabled: isIsolated })

beforeAll(async () => {
  platform = await startPlatform()
  const project = await send<Project>('POST', '/projects', {
    name: 'shop',
    environments: [{ name: 'production', networkIsolationEnabled: true }, { name: 'staging' }],
  })
  const environments = await Promise.all(project.environmentIds.map((id) => send<Environment>('GET', `/environments/${id}`)))
  for (const one of environments) if (one.name === 'production') production = one
  for (const one of environments) if (one.name === 'staging') staging = one
  await deployTo(production, 'vault', greeterApp('I am vault'), 'private_service')
  await deployTo(staging, 'ledger', greeterApp('I am ledger'), 'private_service')
  await deployTo(production, 'front', proberApp())
  await deployTo(staging, 'hostile', proberApp())
  await deployTo(undefined, 'loose', proberApp())
}, 120_000)
afterAll(() => platform.close())

interface Place {
  address: string
  uid: number
  slug: string
}

function placeOf(name: string): Place {
  const sql = 'SELECT i.address, s.uid, s.slug FROM instances i JOIN services s ON s.id = i.service_id WHERE s.id = ?'
  const place = platform.db.query<Place, [string]>(sql).get(ids[name] ?? '')
  if (place === null) throw new Error(`${name} does not run`)
  return place
}

function virtualOf(name: string): string {
  const { address, uid } = placeOf(name)
  const offset = 256 + (uid % 32_512)
  return address.replace(/^(\d+\.\d+)\..*/, `$1.${offset >> 8}.${offset & 255}`)
}

/** By name, and at both of its addresses. */
const waysTo = (name: string): string[] => [placeOf(name).slug, virtualOf(name), placeOf(name).address].map((host) => `${host}:10000`)

const asks = async (prober: string, places: string[]): Promise<string[]> => {
  const answers = await probe(platform, `${placeOf(prober).slug}.localhost`, places)
  return places.map((place) => (answers[place] ?? '').replace('EAI_AGAIN', 'ENOTFOUND'))
}

const reached = (name: string): string[] => Array(3).fill(`connected I am ${name}`)
const REFUSED = ['ENOTFOUND', 'ECONNREFUSED', 'ECONNREFUSED']

test('S22: what is in an isolated environment is reached from inside it, by name and by address', async () => {
  expect(await asks('front', waysTo('vault'))).toEqual(reached('vault'))
  expect(await asks('hostile', waysTo('ledger'))).toEqual(reached('ledger'))
  expect(await asks('loose', waysTo('ledger'))).toEqual(reached('ledger'))
})

test('S22: nobody of the workspace who is outside of it reaches in, and nobody inside reaches out', async () => {
  for (const outside of ['hostile', 'loose']) expect(await asks(outside, waysTo('vault'))).toEqual(REFUSED)
  for (const inner of ['ledger', 'loose']) expect(await asks('front', waysTo(inner))).toEqual(REFUSED)
})

test('S22: no other way leads in: no other port, no longer name, no gateway and no IPv6', async () => {
  const { address, slug } = placeOf('vault')
  const gateway = address.replace(/^(\d+\.\d+)\..*/, '$1.0.1')
  const places = [
    ...[22, 80, 443, 8080, 9999, 10_001].flatMap((port) => [`${address}:${port}`, `${virtualOf('vault')}:${port}`]),
    `${gateway}:10000`,
    `${slug}.localhost:10000`,
    `::ffff:${address}:10000`,
    `::ffff:${virtualOf('vault')}:10000`,
    `fe80::63:70ff:fe64:1%eth0:10000`,
  ]
  for (const answer of await asks('hostile', places)) expect(answer).toMatch(/^(E[A-Z]+|timeout)$/)
})

test('S22: a job of a service is where the service is', async () => {
  const asking = (place: string) =>
    `node -e "const [h,p]='${place}'.split(':');require('net').connect({host:h,port:p,family:4}).on('connect',()=>process.exit(7)).on('error',()=>process.exit(8))"`
  const codeOf = async (name: string, place: string) => {
    const { id } = await send<{ id: string }>('POST', `/services/${ids[name]}/jobs`, { startCommand: asking(place) })
    let exitCode: number | undefined
    await until('the job has ended', async () => {
      exitCode = (await send<{ exitCode?: number }>('GET', `/services/${ids[name]}/jobs/${id}`)).exitCode
      return exitCode !== undefined
    })
    return exitCode
  }
  for (const place of waysTo('vault')) expect([await codeOf('front', place), await codeOf('hostile', place)]).toEqual([7, 8])
})

test('S22: isolation is in force for new connections when it is answered, without a restart, and open ones go on', async () => {
  const [inside, outside] = [placeOf('front'), placeOf('hostile')]
  await isolate(production, false)
  expect(await asks('hostile', waysTo('vault'))).toEqual(reached('vault'))
  expect(await asks('front', waysTo('ledger'))).toEqual(reached('ledger'))
  const holders = ['hostile', 'front'].map((name) => `${placeOf(name).slug}.localhost`)
  await hold(platform, 'hostile.localhost', waysTo('vault'))
  await hold(platform, 'front.localhost', waysTo('ledger'))
  const goOn = async () => {
    for (const host of holders) {
      const before = await held(platform, host)
      await until(`connections of ${host} go on`, async () =>
        (await held(platform, host)).every(({ answers, end }, index) => end !== undefined || answers > (before[index]?.answers ?? 0) + 2),
      )
      expect((await held(platform, host)).map(({ end }) => end)).toEqual([undefined, undefined, undefined])
    }
  }
  await goOn()

  await isolate(production, true)
  expect(await asks('hostile', waysTo('vault'))).toEqual(REFUSED)
  expect(await asks('front', waysTo('ledger'))).toEqual(REFUSED)
  expect(await asks('front', waysTo('vault'))).toEqual(reached('vault'))
  await goOn()
  expect([placeOf('front'), placeOf('hostile')]).toEqual([inside, outside])
})

test('S22: a service that is moved is reached where it is now', async () => {
  await send('POST', `/environments/${production.id}/resources`, { resourceIds: [ids.ledger] })
  expect(await asks('front', waysTo('ledger'))).toEqual(reached('ledger'))
  for (const outside of ['hostile', 'loose']) expect(await asks(outside, waysTo('ledger'))).toEqual(REFUSED)
  await send('DELETE', `/environments/${production.id}/resources?resourceIds=${ids.ledger}`)
  expect(await asks('front', waysTo('ledger'))).toEqual(REFUSED)
  expect(await asks('hostile', waysTo('ledger'))).toEqual(reached('ledger'))
})

test('S22: two isolated environments do not reach each other, nor is a name of one known in the other', async () => {
  await send('POST', `/environments/${staging.id}/resources`, { resourceIds: [ids.ledger] })
  await isolate(staging, true)
  expect(await asks('hostile', waysTo('ledger'))).toEqual(reached('ledger'))
  expect(await asks('front', waysTo('ledger'))).toEqual(REFUSED)
  expect(await asks('loose', [...waysTo('ledger'), ...waysTo('vault')])).toEqual([...REFUSED, ...REFUSED])
  await isolate(staging, false)
})
