import { existsSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createProcessEngine } from '../../../../server/engines/process/engine.ts'
import type { ProcessEngine, ProcessSpec, Sandbox } from '../../../../server/engines/process/spec.ts'
import { runProcess } from '../../../../server/platform/process/spawn.ts'
import { endOf, makeWorld, until, type World } from '../support/world.ts'

const label = `cpd-test-reach-${process.pid}`

/** Answers every connection with its own name, and then keeps to it. */
const server = (name: string, port = 10_000, host = '0.0.0.0') =>
  `exec node -e "require('net').createServer((s) => s.end('${name} to ' + s.remoteAddress)).listen(${port}, '${host}')"`

/** One line for each place: what it answered, or the error's code. */
const client = (places: string[]) =>
  `node -e "
    const net = require('net')
    const ask = (place) => new Promise((done) => {
      const at = place.lastIndexOf(':')
      const socket = net.connect({ host: place.slice(0, at), port: Number(place.slice(at + 1)), family: 4 })
      let text = ''
      socket.setTimeout(4000, () => { socket.destroy(); done('timeout') })
      socket.on('data', (bytes) => { text += bytes }).on('end', () => done(text)).on('error', (error) => done(error.code))
    })
    ;(async () => { for (const place of process.argv.slice(1)) console.log(place + ' ' + await ask(place)) })()
  " ${places.join(' ')}`

let world: World
let engine: ProcessEngine

beforeAll(async () => {
  world = makeWorld()
  engine = await createProcessEngine({ stateDir: world.stateDir, label })
})
afterAll(async () => {
  for (const { ownerId } of await engine.list()) await engine.removeOwner(ownerId)
  await engine.close()
  world.dispose()
})

async function run(ownerId: string, networkId: string | undefined, command: string, rights: Partial<Sandbox> = {}): Promise<ProcessSpec> {
  const { networkId: _, ...sandbox } = { ...world.service(ownerId), ...rights }
  const limits = { cpu: 1, memoryBytes: 256 * 1024 * 1024, pids: 60 }
  const spec = world.instance(command, { sandbox: { ...sandbox, ...(networkId && { networkId }) }, port: 10_000, limits })
  await engine.start(spec)
  return spec
}

async function addressOf({ instanceId }: ProcessSpec): Promise<string> {
  const state = await engine.inspect(instanceId)
  return (state?.status === 'running' && state.endpoint?.host) || ''
}

async function answerOf(host: string, port = 10_000): Promise<string> {
  return await new Promise<string>((resolve) => {
    let text = ''
    Bun.connect({
      hostname: host,
      port,
      socket: {
        data: (_, bytes) => {
          text += bytes
        },
        close: () => resolve(text),
        error: () => resolve(''),
      },
    }).catch((error) => resolve(String(error.code)))
  })
}

/** What a client in a service's place gets from these places. */
async function asks(ownerId: string, networkId: string | undefined, places: string[]): Promise<Record<string, string>> {
  const spec = await run(ownerId, networkId, client(places))
  await endOf(engine, spec.instanceId)
  const output = world.output(spec)
  await engine.remove(spec.instanceId)
  return Object.fromEntries(
    output
      .trim()
      .split('\n')
      .map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]),
  )
}

describe('instances with networks of their own', () => {
  let one: ProcessSpec
  let two: ProcessSpec
  let foreign: ProcessSpec
  let hostAddress: string
  const link = (oneIds: string[], twoIds: string[]) =>
    engine.link([
      { ownerId: 'srv-one', number: 1, networkId: 'net-a', names: ['one'], instanceIds: oneIds },
      { ownerId: 'srv-two', number: 2, networkId: 'net-a', names: ['two', 'two-x1'], instanceIds: twoIds },
      { ownerId: 'srv-foreign', number: 3, networkId: 'net-b', names: ['foreign'], instanceIds: [foreign.instanceId] },
    ])

  beforeAll(async () => {
    ;[one, two, foreign] = await Promise.all([
      run('srv-one', 'net-a', server('one')),
      run('srv-two', 'net-a', server('two')),
      run('srv-foreign', 'net-b', server('foreign')),
    ])
    await link([one.instanceId], [two.instanceId])
    for (const spec of [one, two, foreign]) await until('it listens', async () => (await answerOf(await addressOf(spec))).includes('to'))
    const outside = Object.values(networkInterfaces()).flatMap((all) => all ?? [])
    hostAddress =
      outside.find((address) => address.family === 'IPv4' && !address.internal && !address.address.startsWith('10.2'))?.address ?? ''
  })

  test('listen on one port number and never meet', async () => {
    expect(engine.capabilities.ownNetworks).toBe(true)
    const addresses = await Promise.all([one, two, foreign].map(addressOf))
    expect(new Set(addresses).size).toBe(3)
    expect(await answerOf(addresses[0] ?? '')).toMatch(/^one to /)
    expect(await answerOf(addresses[1] ?? '')).toMatch(/^two to /)
  })

  test('reach their siblings by name and by address, and themselves', async () => {
    const places = ['one:10000', 'two:10000', 'two-x1:10000', `${await addressOf(one)}:10000`]
    const got = await asks('srv-one', 'net-a', places)
    expect(got).toMatchObject({ 'one:10000': expect.stringMatching(/^one to/), 'two:10000': expect.stringMatching(/^two to/) })
    expect(got['two-x1:10000']).toMatch(/^two to/)
    expect(got[places[3] ?? '']).toMatch(/^one to/)
  })

  test('reach an instance of their own service through its name even when it is themselves', async () => {
    const spec = await run('srv-self', 'net-a', `${server('self').replace('exec ', '')} & sleep 1; ${client(['self:10000'])}`)
    await engine.link([{ ownerId: 'srv-self', number: 4, networkId: 'net-a', names: ['self'], instanceIds: [spec.instanceId] }])
    await until('it has asked', () => world.output(spec).includes('self:10000'))
    expect(world.output(spec)).toContain('self:10000 self to')
    await engine.removeOwner('srv-self')
    await link([one.instanceId], [two.instanceId])
  })

  test('neither know the names of others nor reach them', async () => {
    const virtual = (await addressOf(foreign)).replace(/^(\d+\.\d+)\..*/, '$1.1.3')
    const got = await asks('srv-one', 'net-a', ['foreign:10000', `${await addressOf(foreign)}:10000`, `${virtual}:10000`])
    expect(Object.values(got)).toEqual([expect.stringMatching(/ENOTFOUND|EAI_AGAIN/), 'ECONNREFUSED', 'ECONNREFUSED'])
  })

  test('without a private network reach nobody', async () => {
    const virtual = (await addressOf(one)).replace(/^(\d+\.\d+)\..*/, '$1.1.1')
    const got = await asks('srv-none', undefined, ['one:10000', `${await addressOf(one)}:10000`, `${virtual}:10000`])
    expect(Object.values(got)).toEqual([expect.stringMatching(/ENOTFOUND|EAI_AGAIN/), 'ECONNREFUSED', 'ECONNREFUSED'])
  })

  test("reach no port of the host, at any of its addresses, nor a cloud's metadata", async () => {
    const listener = Bun.listen({ hostname: '0.0.0.0', port: 0, socket: { open: (socket) => void socket.end('host'), data: () => {} } })
    const gateway = (await addressOf(one)).replace(/^(\d+\.\d+)\..*/, '$1.0.1')
    try {
      expect(await answerOf(hostAddress, listener.port)).toBe('host')
      const places = [gateway, hostAddress, '127.0.0.1'].map((host) => `${host}:${listener.port}`)
      const got = await asks('srv-one', 'net-a', [...places, '169.254.169.254:80', '169.254.1.1:80'])
      expect(Object.values(got)).toEqual(Array(5).fill('ECONNREFUSED'))
    } finally {
      listener.stop(true)
    }
  })

  test('reach the internet by the address of the host', async () => {
    const spec = await run('srv-one', 'net-a', 'cat /etc/resolv.conf /proc/net/route; ls /sys/class/net >/dev/null')
    await endOf(engine, spec.instanceId)
    expect(world.output(spec)).toMatch(/eth0\s+00000000/)
    await engine.remove(spec.instanceId)
  })

  test('are led to another instance from the next connection on, and nowhere at once when there is none', async () => {
    const newer = await run('srv-two', 'net-a', server('newer'))
    await until('it listens', async () => (await answerOf(await addressOf(newer))).includes('to'))
    await link([one.instanceId], [newer.instanceId])
    expect((await asks('srv-one', 'net-a', ['two:10000']))['two:10000']).toMatch(/^newer to/)
    await link([one.instanceId], [])
    expect((await asks('srv-one', 'net-a', ['two:10000']))['two:10000']).toMatch(/ECONNREFUSED|EHOSTUNREACH/)
    await link([one.instanceId], [two.instanceId])
    expect((await asks('srv-one', 'net-a', ['two:10000']))['two:10000']).toMatch(/^two to/)
  })

  test('that listen on loopback only are reached once that is asked for', async () => {
    const shy = await run('srv-shy', 'net-a', server('shy', 10_000, '127.0.0.1'))
    const address = await addressOf(shy)
    await until('it listens', async () => await engine.exposeLoopback(shy.instanceId, 10_000))
    expect(await answerOf(address)).toMatch(/^shy to/)
    await link([one.instanceId], [shy.instanceId])
    expect((await asks('srv-one', 'net-a', ['two:10000']))['two:10000']).toMatch(/^shy to/)
    expect(await engine.exposeLoopback(one.instanceId, 10_000)).toBe(false)
    await engine.removeOwner('srv-shy')
    await link([one.instanceId], [two.instanceId])
  })

  test('that have put themselves into a network of their own are not followed there', async () => {
    const listen = `node -e "require('net').createServer().listen(10000, '127.0.0.1', () => require('fs').writeFileSync('/tmp/listens', ''))"`
    const away = await run(
      'srv-away',
      'net-a',
      `exec unshare --user --map-root-user --net sh -c 'ip link set lo up; exec ${listen.replaceAll("'", `'"'"'`)}'`,
      { allowsUserNamespaces: true },
    )
    await until('it listens', () => existsSync(join(away.sandbox.tmpDir, 'listens')))
    expect(await engine.exposeLoopback(away.instanceId, 10_000)).toBe(false)
    await engine.removeOwner('srv-away')
  })

  test('are reached from the host by nobody but the user of the platform', async () => {
    const script = client([`${await addressOf(one)}:10000`])
    const { stdout } = await runProcess(['setpriv', '--reuid=61950', '--regid=61950', '--clear-groups', '/bin/sh', '-c', script], {
      env: { PATH: '/usr/local/bin:/usr/bin:/bin' },
    })
    expect(stdout).toMatch(/ECONNREFUSED/)
  })
})
