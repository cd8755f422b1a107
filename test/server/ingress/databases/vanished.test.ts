import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runProcess, type SpawnedProcess, spawnProcess } from '../../../../server/platform/process/spawn.ts'
import { eventually } from '../world.ts'
import { beginPostgres } from './conversation.ts'
import { greeting } from './fake-postgres.ts'
import { type DatabaseWorld, KV_ID, keyValueAt, PG_ID, postgresAt, startDatabaseWorld } from './world.ts'

/** Clients of another machine, here a network namespace, whose link goes down: no word of their end ever comes. */

const isRoot = process.getuid?.() === 0
const NAMESPACE = `cpd-vanish-${process.pid}`
const LINK = `cpdv${process.pid}`
const [HERE, THERE] = ['169.254.201.1', '169.254.201.2']
const allow = [`${THERE}/32`, '127.0.0.1/32']
const VANISHED_MS = 3000
const FOUND_WITHIN_MS = 30_000

interface Server {
  port: number
  open: Set<Bun.Socket>
  stop(): void
}

/** Lets everybody in, and says nothing more by itself. */
function startServer(welcome: Buffer | string): Server {
  const open = new Set<Bun.Socket>()
  const greeted = new WeakSet<Bun.Socket>()
  const listener = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open: (socket) => void open.add(socket),
      close: (socket) => void open.delete(socket),
      data(socket) {
        if (!greeted.has(socket)) socket.write(welcome)
        greeted.add(socket)
      },
    },
  })
  return { port: listener.port, open, stop: () => listener.stop(true) }
}

async function ip(...args: string[]): Promise<void> {
  const { exitCode, stderr } = await runProcess(['ip', ...args], { env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' } })
  if (exitCode !== 0) throw new Error(`ip ${args.join(' ')}: ${stderr}`)
}

const inside = (...args: string[]) => ip('-n', NAMESPACE, ...args)

describe.runIf(isRoot)('clients that vanish', () => {
  let world: DatabaseWorld
  const servers = [startServer(greeting), startServer('+OK\r\n')] as const
  const [postgres, keyValue] = servers
  const children: SpawnedProcess[] = []

  beforeAll(async () => {
    await ip('netns', 'add', NAMESPACE)
    await ip('link', 'add', LINK, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', NAMESPACE)
    await ip('address', 'add', `${HERE}/30`, 'dev', LINK)
    await ip('link', 'set', LINK, 'up')
    await inside('address', 'add', `${THERE}/30`, 'dev', 'eth0')
    world = await startDatabaseWorld({ vanishedMs: VANISHED_MS, lingerMs: 100 }, { host: '0.0.0.0' })
    await world.list({
      [PG_ID]: postgresAt(postgres.port, { allow }),
      [KV_ID]: keyValueAt(keyValue.port, { allow }),
    })
  })
  afterAll(async () => {
    for (const child of children) child.kill('SIGKILL')
    await Promise.all(children.map(({ exited }) => exited))
    await world.close()
    for (const server of servers) server.stop()
    await ip('netns', 'delete', NAMESPACE)
  })

  const connections = async () => (await world.client.status()).activeConnections

  async function letIn(): Promise<void> {
    await inside('link', 'set', 'eth0', 'up')
    const program = `${import.meta.dirname}/vanishing-child.ts`
    const ports = [world.postgresPort, world.keyValuePort].map(String)
    const child = spawnProcess(['ip', 'netns', 'exec', NAMESPACE, process.execPath, program, HERE, ...ports], { stdout: 'pipe' })
    children.push(child)
    for await (const said of child.stdout ?? []) if (new TextDecoder().decode(said).includes('in')) return
    throw new Error('The clients were not let in')
  }

  test.each([
    ['silent', () => {}],
    ['being told something', () => servers.flatMap(({ open }) => [...open]).forEach((socket) => void socket.write('x'.repeat(1000)))],
  ])(
    'while they are %s are found, and whom they were connected to is left; who is silent and there stays',
    async (_, say) => {
      await letIn()
      const neighbour = await beginPostgres(world)
      await neighbour.hears((text) => text.length >= greeting.length)
      const own = [...postgres.open].at(-1)
      expect(await connections()).toBe(3)
      await inside('link', 'set', 'eth0', 'down')
      if (own !== undefined) postgres.open.delete(own)
      say()
      await eventually(() => postgres.open.size + keyValue.open.size === 0, FOUND_WITHIN_MS)
      await eventually(async () => (await connections()) === 1, FOUND_WITHIN_MS)
      own?.write('x')
      await neighbour.hears((text) => text.length > greeting.length)
      neighbour.socket.destroy()
      await eventually(async () => (await connections()) === 0)
    },
    90_000,
  )
})
