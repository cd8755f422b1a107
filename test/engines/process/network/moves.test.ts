import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createProcessEngine } from '../../../../server/engines/process/engine.ts'
import type { ProcessEngine, ProcessSpec } from '../../../../server/engines/process/spec.ts'
import { makeWorld, until, type World } from '../support/world.ts'

const label = `cpd-test-moves-${process.pid}`

let world: World
let engine: ProcessEngine
let logged: string[]

const open = () => createProcessEngine({ stateDir: world.stateDir, label, log: (message) => void logged.push(message) })

beforeEach(async () => {
  world = makeWorld()
  logged = []
  engine = await open()
})
afterEach(async () => {
  for (const { ownerId } of await engine.list()) await engine.removeOwner(ownerId)
  await engine.close()
  world.dispose()
})

/** Sends back what it is sent; and, for each line of the file `dial` in its home, opens a connection, over which it then counts for ever. */
const PEER = `exec node -e "
  const { connect, createServer } = require('net')
  const { existsSync, readFileSync } = require('fs')
  createServer((socket) => socket.on('error', () => {}).pipe(socket)).listen(10000, () => console.log('listens'))
  const dial = (line) => {
    const [tag, host] = line.split(' ')
    const told = (what) => console.log(tag + ' ' + what)
    const socket = connect({ host, port: 10000, family: 4 })
    let count = 0
    const next = () => socket.write(String(++count))
    socket.setTimeout(5000, () => socket.destroy(new Error('timeout')))
    socket.on('connect', next).on('data', (bytes) => { told(bytes); setTimeout(next, 20) }).on('error', (error) => told(error.code || error.message))
  }
  let done = 0
  setInterval(() => {
    const lines = existsSync('dial') ? readFileSync('dial', 'utf8').trim().split('\\n') : []
    for (const line of lines.slice(done)) dial(line)
    done = lines.length
  }, 20)
"`

async function startPeer(ownerId: string, networkId: string): Promise<ProcessSpec> {
  const limits = { cpu: 1, memoryBytes: 256 * 1024 * 1024, pids: 60 }
  const sandbox = { ...world.service(ownerId), networkId }
  const spec = world.instance(PEER, { sandbox, port: 10_000, limits, cwd: sandbox.homeDir })
  await engine.start(spec)
  await until('it listens', () => world.output(spec).includes('listens'))
  return spec
}

let dials = 0

/** Has a peer open a connection, and returns its tag among what the peer says. */
function dial({ sandbox }: ProcessSpec, host: string): string {
  const tag = `dial-${++dials}`
  appendFileSync(join(sandbox.homeDir, 'dial'), `${tag} ${host}\n`)
  return tag
}

const said = (spec: ProcessSpec, tag: string): string[] =>
  world
    .output(spec)
    .split('\n')
    .flatMap((line) => (line.startsWith(`${tag} `) ? [line.slice(tag.length + 1)] : []))

async function answerTo(spec: ProcessSpec, host: string): Promise<string> {
  const tag = dial(spec, host)
  await until(`${host} answers or not`, () => said(spec, tag).length > 0)
  return said(spec, tag)[0] === '1' ? 'reached' : (said(spec, tag)[0] ?? '')
}

async function goesOn(spec: ProcessSpec, tag: string): Promise<void> {
  const before = said(spec, tag).length
  await until(`${tag} goes on`, () => said(spec, tag).length > before + 3)
  expect(said(spec, tag).at(-1)).toMatch(/^\d+$/)
}

async function addressOf({ instanceId }: ProcessSpec): Promise<string> {
  const state = await engine.inspect(instanceId)
  return (state?.status === 'running' && state.endpoint?.host) || ''
}

const NUMBERS: Record<string, number> = { 'srv-one': 1, 'srv-two': 2, 'srv-three': 3 }

const virtualOf = async (spec: ProcessSpec): Promise<string> =>
  (await addressOf(spec)).replace(/^(\d+\.\d+)\..*/, `$1.1.${NUMBERS[spec.sandbox.ownerId]}`)

const link = (...placed: [ProcessSpec, string][]) =>
  engine.link(
    placed.map(([{ sandbox, instanceId }, networkId]) => ({
      ownerId: sandbox.ownerId,
      number: NUMBERS[sandbox.ownerId] ?? 0,
      networkId,
      names: [sandbox.ownerId.slice('srv-'.length)],
      instanceIds: [instanceId],
    })),
  )

const REFUSED = ['ENOTFOUND', 'ECONNREFUSED', 'ECONNREFUSED']

test('who leaves a network reaches nobody there any more and is reached by nobody, but what is open goes on', async () => {
  const [one, two, three] = [await startPeer('srv-one', 'net'), await startPeer('srv-two', 'net'), await startPeer('srv-three', 'net')]
  await link([one, 'net'], [two, 'net'], [three, 'net'])
  const waysTo = async (name: string, spec: ProcessSpec) => [name, await addressOf(spec), await virtualOf(spec)]
  const [toOne, toTwo] = [await waysTo('one', one), await waysTo('two', two)]
  const open = [...toTwo.map((host) => [one, dial(one, host)] as const), ...toOne.map((host) => [two, dial(two, host)] as const)]
  for (const [spec, tag] of open) await goesOn(spec, tag)

  await link([one, 'net'], [two, 'apart'], [three, 'net'])
  const answers = async (spec: ProcessSpec, hosts: string[]) => {
    const all: string[] = []
    for (const host of hosts) all.push((await answerTo(spec, host)).replace('EAI_AGAIN', 'ENOTFOUND'))
    return all
  }
  expect(await answers(one, toTwo)).toEqual(REFUSED)
  expect(await answers(two, toOne)).toEqual(REFUSED)
  expect(await answers(one, await waysTo('three', three))).toEqual(Array(3).fill('reached'))
  expect(await answers(two, toTwo)).toEqual(Array(3).fill('reached'))
  for (const [spec, tag] of open) await goesOn(spec, tag)

  await link([one, 'apart'], [two, 'apart'], [three, 'net'])
  expect(await answers(one, toTwo)).toEqual(Array(3).fill('reached'))
  await link([one, 'net'], [two, 'net'], [three, 'apart'])
  expect(await answers(two, toOne)).toEqual(Array(3).fill('reached'))
  for (const [spec, tag] of open) await goesOn(spec, tag)
  expect(logged).toEqual([])
})

test('an engine that starts has everybody where they were linked last, also those whose owner nobody tells of any more', async () => {
  const [one, two] = [await startPeer('srv-one', 'net'), await startPeer('srv-two', 'net')]
  const toTwo = await addressOf(two)
  await link([one, 'net'], [two, 'apart'])
  await link([one, 'net'])
  for (let time = 0; time < 2; time++) {
    expect(await answerTo(one, toTwo)).toBe('ECONNREFUSED')
    expect(await answerTo(one, 'one')).toBe('reached')
    await engine.close()
    engine = await open()
  }
})
