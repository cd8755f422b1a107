import { networkInterfaces } from 'node:os'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createService, deployApp } from '../support/apps.ts'
import { call } from '../support/client.ts'
import { registerTenant, type Tenant } from '../support/members.ts'
import { type Platform, startPlatform } from '../support/platform.ts'
import { greeterApp, probe, proberApp } from '../support/prober.ts'

let platform: Platform
let tenant: Tenant
let foreign: { id: string; slug: string }
let sibling: { id: string; slug: string }
const asks = (places: string[]) => probe(platform, 'hostile.localhost', places)

beforeAll(async () => {
  platform = await startPlatform()
  tenant = await registerTenant(platform, 'other@example.com')
  foreign = await deployPrivate({ ...platform, adminToken: tenant.token }, 'ledger')
  sibling = await deployPrivate(platform, 'backend')
  await deployApp(platform, await createService(platform, { name: 'hostile' }), await proberApp())
})
afterAll(() => platform.close())

async function deployPrivate(server: Platform, name: string): Promise<{ id: string; slug: string }> {
  const id = await createService(server, { name, type: 'private_service', serviceDetails: {} })
  await deployApp(server, id, await greeterApp(`I am ${name}`))
  const { body } = await call<{ slug: string }>(`${server.url}/v1/services/${id}`, { token: server.adminToken })
  return { id, slug: body.slug }
}

const addressOf = (serviceId: string): string =>
  platform.db.query<{ address: string }, [string]>('SELECT address FROM instances WHERE service_id = ?').get(serviceId)?.address ?? ''

const virtualOf = (serviceId: string): string => {
  const uid = platform.db.query<{ uid: number }, [string]>('SELECT uid FROM services WHERE id = ?').get(serviceId)?.uid ?? 0
  const offset = 256 + (uid % 32_512)
  return addressOf(serviceId).replace(/^(\d+\.\d+)\..*/, `$1.${offset >> 8}.${offset & 255}`)
}

const gateway = () => addressOf(sibling.id).replace(/^(\d+\.\d+)\..*/, '$1.0.1')

const hostAddresses = (): string[] =>
  Object.values(networkInterfaces()).flatMap((all) => (all ?? []).flatMap(({ family, address }) => (family === 'IPv4' ? [address] : [])))

test('S22: the targets are really there', async () => {
  expect(addressOf(foreign.id)).toMatch(/^10\./)
  expect(await (await fetch(`http://${addressOf(foreign.id)}:10000`)).text()).toBe('I am ledger')
  const places = [`${sibling.slug}:10000`, `${virtualOf(sibling.id)}:10000`, `${addressOf(sibling.id)}:10000`]
  expect(Object.values(await asks(places))).toEqual(Array(3).fill('connected I am backend'))
})

test("S22: a hostile app reaches no instance of another workspace, neither at its own address nor at its service's", async () => {
  const places = [addressOf(foreign.id), virtualOf(foreign.id)].flatMap((host) => [`${host}:10000`, `${host}:80`])
  expect(Object.values(await asks(places))).toEqual(Array(4).fill('ECONNREFUSED'))
})

test('S22: names of another workspace do not resolve', async () => {
  const got = await asks([`${foreign.slug}:10000`, 'ledger:10000'])
  for (const answer of Object.values(got)) expect(answer).toMatch(/^(ENOTFOUND|EAI_AGAIN)$/)
})

test("S22: it reaches neither the API nor anybody else who listens on the machine, at any of the machine's addresses", async () => {
  const apiPort = new URL(platform.url).port
  const listener = Bun.listen({ hostname: '0.0.0.0', port: 0, socket: { open: (socket) => void socket.end('host'), data: () => {} } })
  try {
    const hosts = [...new Set([gateway(), ...hostAddresses()])]
    const got = await asks(hosts.flatMap((host) => [`${host}:${apiPort}`, `${host}:${listener.port}`]))
    expect(Object.keys(got).length).toBeGreaterThan(2)
    expect(new Set(Object.values(got))).toEqual(new Set(['ECONNREFUSED']))
  } finally {
    listener.stop(true)
  }
})

test('S22: it reaches no metadata service of a cloud, nor anything link-local', async () => {
  expect(Object.values(await asks(['169.254.169.254:80', '169.254.1.1:80', '0.0.0.1:80']))).toEqual([
    'ECONNREFUSED',
    'ECONNREFUSED',
    expect.stringMatching(/ECONNREFUSED|ENETUNREACH|EINVAL|EHOSTUNREACH/),
  ])
})

test('S22: a build reaches no instance, no name and no port of the machine', async () => {
  const places = [
    `${addressOf(foreign.id)}:10000`,
    `${addressOf(sibling.id)}:10000`,
    `${sibling.slug}:10000`,
    `${gateway()}:${new URL(platform.url).port}`,
  ]
  const one = (place: string) =>
    `node -e "const [h,p]='${place}'.split(':');require('net').connect(p,h).on('connect',()=>{console.log('REACHED ${place}');process.exit()}).on('error',(e)=>console.log('refused',e.code))"`
  const id = await createService(platform, {
    name: 'hostile-build',
    serviceDetails: { envSpecificDetails: { buildCommand: places.map(one).join('; ') } },
  })
  await deployApp(platform, id, await greeterApp('built'))
  let logs = ''
  await expect
    .poll(async () => {
      const { body } = await call<{ logs: { message: string }[] }>(`${platform.url}/v1/logs?resource=${id}&limit=100&type=build,platform`, {
        token: platform.adminToken,
      })
      logs = body.logs.map(({ message }) => message).join('\n')
      return logs.match(/refused E[A-Z_]+/g)?.length
    })
    .toBe(places.length)
  expect(logs).not.toMatch(/^REACHED/m)
})
