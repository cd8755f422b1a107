import { afterEach, expect, test } from 'vitest'
import { Interrupted } from '../../cli/base/error.ts'
import { AppError } from '../../shared/error.ts'
import type { Event } from '../../shared/event.ts'
import { exampleDatabase, exampleService, pageOf, serviceId } from './examples.ts'
import { type Answers, type FakeServer, startFakeServer } from './fake-server.ts'
import { cpctl, type TerminalOptions } from './terminal.ts'

let server: FakeServer
afterEach(async () => {
  expect(server.breaches).toEqual([])
  await server.stop()
})

function on(answers: Answers) {
  server = startFakeServer(answers)
  const env = { CPCTL_URL: server.url, CPCTL_TOKEN: 'cpk_test' }
  return (argv: string[], terminal: TerminalOptions = {}) => cpctl(argv, { env, ...terminal })
}

const event = (number: number): Event => ({
  id: `evt-${String(number).padStart(20, '0')}`,
  timestamp: new Date(Date.UTC(2026, 1, 1, 11, 0, number)).toISOString(),
  serviceId,
  serviceName: 'web',
  type: 'deploy_ended',
  details: { number },
})
const events = (count: number): Event[] => Array.from({ length: count }, (_, index) => event(index + 1))

/** Serves events as the server does: after a cursor, in either direction, 100 at most. */
const stored = (held: () => Event[]): Answers => ({
  listServices: () => pageOf('service', [exampleService()]),
  listWorkspaceEvents({ query }) {
    const { direction = 'backward', limit = '20', cursor } = query as Record<string, string>
    const ordered = direction === 'forward' ? held() : held().toReversed()
    const from = cursor === undefined ? 0 : ordered.findIndex(({ id }) => id === cursor) + 1
    return ordered.slice(from, from + Math.min(100, Number(limit))).map((one) => ({ event: one, cursor: one.id }))
  },
})

const numbersIn = (stdout: string) => [...stdout.matchAll(/number=(\d+)/g)].map(([, number]) => Number(number))
const upTo = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)

test('the newest events are printed oldest first, with time, service and details', async () => {
  const { stdout } = await on(stored(() => events(5)))(['events', '-n', '2'])
  expect(stdout).toBe('2026-02-01T11:00:04.000Z web deploy_ended number=4\n2026-02-01T11:00:05.000Z web deploy_ended number=5\n')
})

test('pages are walked in both directions, without losing or repeating an event', async () => {
  const run = on(stored(() => events(250)))
  expect(numbersIn((await run(['events', '-n', '230'])).stdout)).toEqual(upTo(21, 250))
  expect(numbersIn((await run(['events', '--since', '1d'])).stdout)).toEqual(upTo(1, 250))
})

test('filters go to the server, names as ids', async () => {
  await on(stored(() => []))(['events', '--service', 'web', '--type', 'deploy_ended,server_failed', '--since', '2026-02-01T11:00:00Z'])
  expect(server.received.at(-1)?.query).toMatchObject({
    serviceId: [serviceId],
    type: ['deploy_ended', 'server_failed'],
    startTime: '2026-02-01T11:00:00.000Z',
  })
})

test('a database is named as services are', async () => {
  const run = on({
    ...stored(() => []),
    listServices: () => [],
    listPostgres: () => pageOf('postgres', [exampleDatabase]),
    listKeyValue: () => [],
  })
  await run(['events', '--service', exampleDatabase.name])
  expect(server.received.at(-1)?.query).toMatchObject({ serviceId: [exampleDatabase.id] })
})

test('a type that there is not is refused with the one that is meant', async () => {
  const { exitCode, stderr } = await on({})(['events', '--type', 'deploy_endet'])
  expect(exitCode).toBe(2)
  expect(stderr).toContain('Did you mean deploy_ended?')
})

test.each([
  [['events', '-f', '-n', '2'], upTo(2, 9)],
  [['events', '-f', '-n', '0'], upTo(4, 9)],
  [['events', '-f', '--since', '1d'], upTo(1, 9)],
] as const)('%j goes on with each new event once, through a server that is away', async (argv, expected) => {
  let count = 3
  let asked = 0
  const interrupt = new AbortController()
  const held = stored(() => events(count))
  const run = on({
    ...held,
    listWorkspaceEvents(received) {
      asked++
      if (asked === 2) throw new AppError('unavailable', 'Starting')
      if (asked >= 2) count = Math.min(9, count + 3)
      return held.listWorkspaceEvents?.(received)
    },
  })
  const terminal: TerminalOptions = {
    interrupted: interrupt.signal,
    onOutput: (text) => {
      if (text.includes('"number":9')) interrupt.abort(new Interrupted())
    },
  }
  const { stdout } = await run([...argv, '--json'], terminal)
  expect(
    stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).details.number),
  ).toEqual(expected)
})

test('with --json each event is a line as the API tells it', async () => {
  const { stdout } = await on(stored(() => events(1)))(['events', '--json'])
  expect(JSON.parse(stdout)).toEqual(event(1))
})
