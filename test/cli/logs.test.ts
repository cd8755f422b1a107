import { afterEach, describe, expect, test } from 'vitest'
import { Interrupted } from '../../cli/base/error.ts'
import { createSeen, OVERLAP_MS } from '../../cli/logs/seen.ts'
import { AppError } from '../../shared/error.ts'
import type { Log } from '../../shared/log.ts'
import { exampleService, pageOf, serviceId } from './examples.ts'
import { type Answers, type FakeServer, type LogSocket, startFakeServer } from './fake-server.ts'
import { cpctl, type TerminalOptions } from './terminal.ts'

let server: FakeServer
afterEach(async () => {
  expect(server.breaches).toEqual([])
  await server.stop()
})

const line = (number: number, labels: Log['labels'] = [{ name: 'instance', value: `${serviceId}-0a1b2` }]): Log => ({
  id: `log-${number}`,
  message: `line ${number}`,
  timestamp: new Date(Date.UTC(2026, 1, 1, 11, 0, number)).toISOString().replace('Z', '000Z'),
  labels,
})
const lines = (from: number, to: number): Log[] => Array.from({ length: to - from + 1 }, (_, index) => line(from + index))
const service: Answers = { listServices: () => pageOf('service', [exampleService()]) }

const isFrom = (log: Log, time: unknown) => time === undefined || Date.parse(log.timestamp) >= Date.parse(String(time))

/** Serves stored lines as the server does: bounded by time, forward or backward, 100 at most. */
const stored = (held: () => Log[]): Answers => ({
  ...service,
  listLogs: ({ query }) => {
    const { startTime, endTime, direction = 'backward', limit = 20 } = query as Record<string, string>
    const within = held().filter((log) => isFrom(log, startTime) && (endTime === undefined || !isFrom(log, endTime)))
    const ordered = direction === 'forward' ? within : within.toReversed()
    const logs = ordered.slice(0, Math.min(100, Number(limit)))
    const last = logs.at(-1)?.timestamp ?? '2026-02-01T11:00:00.000000Z'
    return {
      hasMore: logs.length < ordered.length,
      logs,
      nextStartTime: direction === 'forward' ? new Date(Date.parse(last) + 1).toISOString() : startTime || '1970-01-01T00:00:00.000000Z',
      nextEndTime: direction === 'forward' ? '2027-01-01T00:00:00.000000Z' : last,
    }
  },
})

function on(answers: Answers, options: { webSocket?: LogSocket; port?: number } = {}) {
  server = startFakeServer(answers, options)
  const env = { CPCTL_URL: server.url, CPCTL_TOKEN: 'cpk_test' }
  return (argv: string[], terminal: TerminalOptions = {}) => cpctl(argv, { env, ...terminal })
}

const numbersIn = (stdout: string) => [...stdout.matchAll(/line (\d+)/g)].map(([, number]) => Number(number))

describe('history', () => {
  test('the newest lines are printed oldest first, with time and instance', async () => {
    const { stdout } = await on(stored(() => lines(1, 5)))(['logs', 'web', '-n', '2'])
    expect(stdout).toBe('2026-02-01T11:00:04.000000Z 0a1b2 line 4\n2026-02-01T11:00:05.000000Z 0a1b2 line 5\n')
  })

  test('pages are walked, without losing or repeating a line', async () => {
    const all = lines(1, 250)
    const newest = await on(stored(() => all))(['logs', 'web', '-n', '230'])
    expect(numbersIn(newest.stdout)).toEqual(all.slice(20).map((_, index) => index + 21))
    await server.stop()
    const since = await on(stored(() => all))(['logs', 'web', '--since', '2026-02-01T11:00:10Z'])
    expect(numbersIn(since.stdout)).toEqual(all.slice(9).map((_, index) => index + 10))
  })

  test('filters go to the server', async () => {
    await on(stored(() => []))([
      'logs',
      'web',
      '--search',
      'out of memory',
      '--type',
      'app,build',
      '--level',
      'error',
      '--until',
      '2026-02-01T12:00:00Z',
    ])
    expect(server.received.at(-1)?.query).toEqual({
      resource: [serviceId],
      text: ['out of memory'],
      type: ['app', 'build', 'platform'],
      level: ['error'],
      endTime: '2026-02-01T12:00:00.000Z',
      direction: 'backward',
      limit: 100,
    })
    for (const argv of [
      ['--type', 'nope'],
      ['--since', 'yesterday'],
      ['-f', '--until', '5m'],
    ]) {
      expect((await cpctl(['logs', 'web', ...argv])).exitCode).toBe(2)
    }
  })

  test('requests are shown when they are asked for, by type or by what only they have', async () => {
    const ask = on(stored(() => []))
    await ask(['logs', 'web'])
    expect(server.received.at(-1)?.query).toMatchObject({ type: ['app', 'build', 'platform'] })
    await ask(['logs', 'web', '--type', 'request'])
    expect(server.received.at(-1)?.query).toMatchObject({ type: ['request'] })
    await ask(['logs', 'web', '--method', 'GET,POST', '--status', '5*', '--path', '/a,b', '--host', 'shop.test'])
    const { query } = server.received.at(-1) ?? {}
    expect(query).toMatchObject({ method: ['GET', 'POST'], statusCode: ['5*'], host: ['shop.test'] })
    expect(query).not.toHaveProperty('type')
  })

  test('control sequences in a line never reach the terminal', async () => {
    const hostile = { ...line(1), message: 'a\u001b]52;c;ZXZpbA==\u0007b\u001b[2J\rc' }
    const { stdout } = await on(stored(() => [hostile]))(['logs', 'web'])
    expect(stdout).toBe('2026-02-01T11:00:01.000000Z 0a1b2 abc\n')
  })

  test('lines of builds are named as such', async () => {
    const labels: Log['labels'] = [
      { name: 'type', value: 'build' },
      { name: 'instance', value: 'dep-0b1c2d3e4f5g6h7i8j9k' },
    ]
    const { stdout } = await on(stored(() => [line(1, labels)]))(['logs', 'web'])
    expect(stdout).toBe('2026-02-01T11:00:01.000000Z build line 1\n')
  })

  test('what the platform remarks stands among the lines of its kind, and counts among those that were asked for', async () => {
    const remark = (number: number, instance: string) =>
      line(number, [
        { name: 'type', value: 'platform' },
        { name: 'instance', value: instance },
      ])
    const all = [remark(1, `${serviceId}-0a1b2`), remark(2, 'dep-0b1c2d3e4f5g6h7i8j9k'), remark(3, `${serviceId}-0a1b2`)]
    const shown = async (...options: string[]) => numbersIn((await on(stored(() => all))(['logs', 'web', ...options])).stdout)
    expect(await shown()).toEqual([1, 2, 3])
    expect(await shown('--type', 'build')).toEqual([2])
    expect(await shown('--type', 'build', '-n', '1')).toEqual([2])
    expect(await shown('--type', 'app', '--since', '2026-02-01T11:00:00Z')).toEqual([1, 3])
    expect(await shown('--type', 'platform')).toEqual([1, 2, 3])
    expect((await on(stored(() => all))(['logs', 'web'])).stdout).toContain(' build line 2\n')
  })

  test('remarks that are not wanted are passed over by whole pages', async () => {
    const labelsOf = (type: string): Log['labels'] => [
      { name: 'type', value: type },
      { name: 'instance', value: `${serviceId}-0a1b2` },
    ]
    const held = Array.from({ length: 400 }, (_, number) => line(number, labelsOf(number % 399 === 0 ? 'build' : 'platform')))
    const { stdout } = await on(stored(() => held))(['logs', 'web', '--type', 'build', '-n', '2'])
    expect(numbersIn(stdout)).toEqual([0, 399])
    expect(server.received.filter(({ id }) => id === 'listLogs').length).toBeLessThanOrEqual(5)
  })

  test('--json prints one object a line, inert as well', async () => {
    const hostile = { ...line(1), message: 'a\u009b2Jb\u202ec' }
    const { stdout } = await on(stored(() => [hostile]))(['logs', 'web', '--json'])
    expect(stdout.split('\n')).toHaveLength(2)
    expect(stdout).toContain('a\\u009b2Jb\\u202ec')
    expect(JSON.parse(stdout)).toEqual(hostile)
  })
})

/** Follows until `count` lines are out, then presses Ctrl-C. */
function until(count: number): TerminalOptions & { env?: never } {
  const ctrlC = new AbortController()
  let printed = 0
  return {
    interrupted: ctrlC.signal,
    onOutput: (text) => {
      printed += numbersIn(text).length
      if (printed >= count) ctrlC.abort(new Interrupted())
    },
  } as TerminalOptions & { env?: never }
}

describe('following', () => {
  test('goes on from history with a Bearer token, and through lost connections, without loss or repetition', async () => {
    let connections = 0
    let written = 3
    const webSocket: LogSocket = ({ query }, socket) => {
      connections++
      written += 2
      for (const log of lines(1, written)) if (isFrom(log, query.startTime)) socket.send(JSON.stringify(log))
      if (connections < 4) setTimeout(socket.drop, 20)
    }
    const run = on(
      stored(() => lines(1, 3)),
      { webSocket },
    )
    const { exitCode, stdout, stderr } = await run(['logs', 'web', '-f', '-n', '2'], {
      env: { CPCTL_URL: server.url, CPCTL_TOKEN: 'cpk_test' },
      ...until(10),
    })
    expect(numbersIn(stdout)).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
    expect(stderr).toBe('The connection was lost; reconnecting …\n'.repeat(3))
    expect(exitCode).toBe(130)
    expect(server.received.at(-1)?.headers.get('authorization')).toBe('Bearer cpk_test')
  })

  test('-n 0 shows new lines only', async () => {
    const webSocket: LogSocket = ({ query }, socket) => {
      for (const log of lines(1, 60)) if (isFrom(log, query.startTime)) socket.send(JSON.stringify(log))
    }
    const run = on(
      stored(() => lines(1, 58)),
      { webSocket },
    )
    const { stdout } = await run(['logs', 'web', '-f', '-n', '0'], { env: { CPCTL_URL: server.url, CPCTL_TOKEN: 'cpk_test' }, ...until(2) })
    expect(numbersIn(stdout)).toEqual([59, 60])
  })

  test('survives a restart of the server', async () => {
    let written = 2
    const webSocket: LogSocket = ({ query }, socket) => {
      for (const log of lines(1, written)) if (isFrom(log, query.startTime)) socket.send(JSON.stringify(log))
    }
    const answers = stored(() => lines(1, written))
    const run = on(answers, { webSocket })
    const { url } = server
    const following = run(['logs', 'web', '-f'], { env: { CPCTL_URL: url, CPCTL_TOKEN: 'cpk_test' }, ...until(4) })
    await Bun.sleep(150)
    await server.stop()
    await Bun.sleep(300)
    written = 4
    server = startFakeServer(answers, { webSocket, port: Number(new URL(url).port) })
    expect(numbersIn((await following).stdout)).toEqual([1, 2, 3, 4])
  })

  test('a refused subscription tells the reason of the server', async () => {
    let asked = 0
    const run = on({
      ...service,
      listLogs: () => {
        if (asked++ === 0)
          return { hasMore: false, logs: [], nextStartTime: '2026-02-01T11:00:00.000Z', nextEndTime: '2026-02-01T11:00:00.000Z' }
        throw new AppError('forbidden', 'It needs the permission logs.read.')
      },
    })
    const { exitCode, stderr } = await run(['logs', 'web', '-f'])
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: 'Error: It needs the permission logs.read.\n' })
  })
})

test('what has been seen is forgotten only when it can no longer come again', async () => {
  server = startFakeServer({})
  const seen = createSeen('1970-01-01T00:00:00.000Z')
  expect(seen.resumeTime()).toBe('1970-01-01T00:00:00.000Z')
  for (const log of lines(1, 50)) expect(seen.isNew(log)).toBe(true)
  expect(seen.resumeTime()).toBe(new Date(Date.parse(line(50).timestamp) - OVERLAP_MS).toISOString())
  for (const log of lines(40, 50)) expect(seen.isNew(log)).toBe(false)
})
