import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createProcessEngine } from '../../../../server/engines/process/engine.ts'
import { openNetworks } from '../../../../server/engines/process/network/own-networks.ts'
import { register, sweepOrphans } from '../../../../server/engines/process/network/registry.ts'
import { networkChain } from '../../../../server/engines/process/network/ruleset.ts'
import type { ProcessEngine, ProcessSpec } from '../../../../server/engines/process/spec.ts'
import { runProcess, spawnProcess } from '../../../../server/platform/process/spawn.ts'
import { makeWorld, until, type World } from '../support/world.ts'

const label = `cpd-test-left-${process.pid}`
const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' }
const SERVER = `exec node -e "require('net').createServer((s) => s.end('here')).listen(10000)"`

let world: World
let engine: ProcessEngine | undefined
beforeEach(() => {
  world = makeWorld()
})
afterEach(async () => {
  engine ??= await createProcessEngine({ stateDir: world.stateDir, label })
  for (const { ownerId } of await engine.list()) await engine.removeOwner(ownerId)
  await engine.close()
  engine = undefined
  expect(await left()).toEqual({ links: [], hasTable: false, isClaimed: false })
  world.dispose()
})

const said = async (argv: string[]) => (await runProcess(argv, { env })).stdout
const hashOf = (directory: string) => createHash('sha256').update(directory).digest('hex').slice(0, 8)
const hash = () => hashOf(join(world.stateDir, 'network'))
const links = async () =>
  [...(await said(['ip', '-o', 'link'])).matchAll(/^\d+: (cpd\w+)/gm)].map(([, name]) => name ?? '').filter((name) => name.includes(hash()))

/** What there is in the kernel of this world. */
async function left(): Promise<{ links: string[]; hasTable: boolean; isClaimed: boolean }> {
  // The kernel tidies up behind a namespace in its own time.
  await until('links are gone', async () => (await links()).length === 0).catch(() => {})
  return {
    links: await links(),
    hasTable: (await said(['nft', 'list', 'tables'])).includes(`cpd_${hash()}\n`),
    isClaimed: existsSync(`/run/cpd/networks/cpd_${hash()}`),
  }
}

function instance(): ProcessSpec {
  const limits = { cpu: 1, memoryBytes: 256 * 1024 * 1024, pids: 60 }
  return world.instance(SERVER, { sandbox: { ...world.service('srv-one'), networkId: 'net-a' }, port: 10_000, limits })
}

async function answers(spec: ProcessSpec): Promise<boolean> {
  const state = await engine?.inspect(spec.instanceId)
  if (state?.status !== 'running') return false
  try {
    const socket = await Bun.connect({ hostname: state.endpoint?.host ?? '', port: 10_000, socket: { data: () => {} } })
    socket.terminate()
    return true
  } catch {
    return false
  }
}

const table = () => said(['nft', 'list', 'table', 'inet', `cpd_${hash()}`])

test('starting and stopping again and again leaves nothing of any instance', async () => {
  engine = await createProcessEngine({ stateDir: world.stateDir, label })
  await engine.link([])
  const before = await table()
  for (let round = 0; round < 30; round++) {
    const spec = { ...instance(), command: 'exec sleep 100' }
    await engine.start(spec)
    await engine.stop(spec.instanceId, { graceMs: 0 })
    await engine.remove(spec.instanceId)
  }
  expect(await table()).toBe(before)
  await until('only those made beforehand are left', async () => (await links()).length <= 4)
})

test('an engine that is killed leaves its instances as they are, and nothing that it had made beforehand', async () => {
  const spec = instance()
  const script = join(world.dir, 'elsewhere.ts')
  const out = join(world.dir, 'elsewhere.out')
  writeFileSync(
    script,
    `import { createProcessEngine } from ${JSON.stringify(join(import.meta.dirname, '../../../../server/engines/process/engine.ts'))}
    const engine = await createProcessEngine(${JSON.stringify({ stateDir: world.stateDir, label })})
    await engine.link([{ ownerId: 'srv-one', number: 7, networkId: 'net-a', names: ['one'], instanceIds: [${JSON.stringify(spec.instanceId)}] }])
    await engine.start(${JSON.stringify(spec)})
    await engine.link([{ ownerId: 'srv-one', number: 7, networkId: 'net-a', names: ['one'], instanceIds: [${JSON.stringify(spec.instanceId)}] }])
    await Bun.sleep(300)
    console.log((await engine.inspect(${JSON.stringify(spec.instanceId)})).endpoint.host)
    setInterval(() => {}, 1000)`,
  )
  const elsewhere = spawnProcess([process.execPath, script], { env: { BUN_BE_BUN: '1' }, stdout: { appendTo: out }, stderr: 'stdout' })
  await until('it has started', () => existsSync(out) && readFileSync(out, 'utf8').includes('\n'))
  const address = readFileSync(out, 'utf8').trim()
  expect((await links()).length).toBeGreaterThan(1)
  elsewhere.kill('SIGKILL')
  await elsewhere.exited
  await until('only the link of the instance is left', async () => (await links()).length === 1)
  const rules = await table()
  expect(rules).toContain(address)

  engine = await createProcessEngine({ stateDir: world.stateDir, label })
  expect(await engine.inspect(spec.instanceId)).toMatchObject({ status: 'running', endpoint: { host: address } })
  await until('it answers', () => answers(spec))
  const sorted = (text: string) => text.split('\n').toSorted()
  expect(sorted(await table())).toEqual(sorted(rules))
})

test('rules that somebody has flushed are set again with the next change', async () => {
  engine = await createProcessEngine({ stateDir: world.stateDir, label })
  const [one, two] = [instance(), instance()]
  await engine.start(one)
  const before = (await table()).length
  await said(['nft', 'delete', 'table', 'inet', `cpd_${hash()}`])
  await engine.start(two)
  expect((await table()).length).toBeGreaterThanOrEqual(before)
  expect((await table()).match(/jump net_/g)).toHaveLength(2)
})

test('a claim in the routes is seen by the next installation, and given back', async () => {
  engine = await createProcessEngine({ stateDir: world.stateDir, label })
  const other = mkdtempSync(join(tmpdir(), 'network-'))
  const options = {
    directory: join(other, 'network'),
    publicPorts: [],
    hasTimeouts: false,
    connectionsPerInstance: undefined,
    hostServices: [],
    adopted: [],
    log: () => {},
  }
  const networks = await openNetworks(options)
  const own = (await said(['ip', 'route'])).match(/^unreachable \S+/gm) ?? []
  expect(new Set(own).size).toBe(own.length)
  expect(own).toContain(`unreachable ${networks.gateway.replace(/\.0\.1$/, '.0.0/16')}`)
  await networks.close({ isEmpty: true })
  expect(await said(['ip', 'route'])).not.toContain(`unreachable ${networks.gateway.replace(/\.0\.1$/, '.0.0/16')}`)
  rmSync(other, { recursive: true })
})

test('a network that the machine uses already is refused by name', async () => {
  const [used] = (await said(['ip', '-4', '-o', 'addr', 'show', 'scope', 'global'])).match(/\d+\.\d+(?=\.\d+\.\d+\/)/) ?? []
  const subnet = `${used}.0.0/16`
  const opening = createProcessEngine({ stateDir: world.stateDir, label, network: { subnet } })
  await expect(opening).rejects.toThrow(`${subnet} is used by this machine already; set CP_INSTANCE_SUBNET`)
})

test('what is left of an installation whose data is gone is taken away by another, and nothing else', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'registry-'))
  const gone = `cpd_${hashOf(folder)}`
  await runProcess(['nft', 'add', 'table', 'inet', gone], { env })
  register(gone, { directory: join(folder, 'gone'), subnet: '10.63.0.0/16' }, folder)
  register('cpd_00000000', { directory: folder, subnet: '10.62.0.0/16' }, folder)
  register('filter', { directory: join(folder, 'gone'), subnet: '10.61.0.0/16' }, folder)
  await sweepOrphans(folder)
  expect(await said(['nft', 'list', 'tables'])).not.toContain(gone)
  expect(existsSync(join(folder, gone))).toBe(false)
  expect(existsSync(join(folder, 'cpd_00000000'))).toBe(true)
  expect(existsSync(join(folder, 'filter'))).toBe(true)
  rmSync(folder, { recursive: true })
})

/** Networks in which one instance of srv-a is. */
async function openWithOne() {
  const dir = mkdtempSync(join(tmpdir(), 'network-'))
  const networks = await openNetworks({
    directory: join(dir, 'network'),
    publicPorts: [],
    hasTimeouts: false,
    connectionsPerInstance: undefined,
    hostServices: [],
    adopted: [],
    log: () => {},
  })
  const recordDir = join(dir, 'one')
  mkdirSync(recordDir)
  const attachment = await networks.enter({ id: 'one', ownerId: 'srv-a', recordDir, networkId: 'net-a', isHost: false })
  await attachment.joined
  const close = async () => {
    attachment.left()
    await networks.leave('one')
    await networks.close({ isEmpty: true })
    rmSync(dir, { recursive: true })
  }
  const rules = () => said(['nft', 'list', 'table', 'inet', `cpd_${hashOf(join(dir, 'network'))}`])
  return { dir, networks, address: attachment.address, rules, close }
}

const serviceA = { ownerId: 'srv-a', number: 1, networkId: 'net-a', names: ['a'], instanceIds: ['one'] }

test('a change that the kernel refuses fails for whoever asked for it, and the next one is tried all the same', async () => {
  const { networks, address, rules, close } = await openWithOne()
  // The second time there is nothing new to tell, and still it is not in force.
  for (let time = 0; time < 2; time++) await expect(networks.link([{ ...serviceA, number: -300 }])).rejects.toThrow('nft')
  await networks.link([serviceA])
  expect(await rules()).toContain(`dnat ip to ${address}`)
  await close()
})

test('what cannot be written to a disk is in force all the same, and is told', async () => {
  const { dir, networks, address, rules, close } = await openWithOne()
  rmSync(join(dir, 'network'), { recursive: true })
  await expect(networks.link([{ ...serviceA, networkId: 'net-b' }])).rejects.toThrow('ENOENT')
  await expect.poll(rules).toContain(`${address} : jump ${networkChain('net-b')}`)
  await close()
})
