import { describe, expect, test } from 'vitest'
import { showTop } from '../../cli/metrics/top-screen.ts'
import type { LocalEvents, LocalTerminal } from '../../cli/terminal/local.ts'
import { createPaint } from '../../cli/terminal/paint.ts'
import type { ServiceUsage } from '../../shared/metrics.ts'
import { until } from '../support/until.ts'
import { exampleDatabase, exampleService, pageOf, serviceId } from './examples.ts'
import { servingPlaces, staging } from './places.ts'
import { serverPerTest } from './server-per-test.ts'

const { on, received, stop } = serverPerTest()

const usage = (fields: Partial<ServiceUsage> = {}): ServiceUsage => ({
  ...{ serviceId, name: 'web', type: 'web_service', state: 'running', measuredAt: '2026-02-01T11:59:50.000Z', instances: 2 },
  ...{ cpu: 0.5, cpuLimit: 1, memoryBytes: 100 * 1024 * 1024, memoryLimitBytes: 1024 * 1024 * 1024 },
  ...{ diskBytes: null, diskLimitBytes: null, connections: null },
  ...{ requestsPerSecond: 12.34, errorsPerSecond: 0, latencyP95Ms: 34.5, bytesInPerSecond: 1, bytesOutPerSecond: 2 },
  ...fields,
})
const worker = usage({
  ...{ name: 'worker', type: 'background_worker', state: 'crash_looping', instances: 1, cpu: 0.9, memoryBytes: 1000 * 1024 * 1024 },
  ...{ requestsPerSecond: null, errorsPerSecond: null, latencyP95Ms: null, diskBytes: 800, diskLimitBytes: 1000 },
})
const idle = usage({
  name: 'a-site',
  type: 'static_site',
  state: 'live',
  instances: 0,
  cpu: null,
  cpuLimit: null,
  memoryBytes: null,
  memoryLimitBytes: null,
})

const database = usage({ serviceId: exampleDatabase.id, name: 'shop', type: 'postgres', cpu: 0.1, connections: 7, requestsPerSecond: null })

describe('top', () => {
  test('prints one table, what uses most first, where it is not looked at', async () => {
    const { stdout, exitCode } = await on({ listServiceUsage: () => [idle, usage(), worker, database] })('top')
    expect(exitCode).toBe(0)
    expect(stdout).toBe(
      [
        'NAME    STATE          INST   CPU  CPU%     MEMORY  MEM%  DISK%  CONNS  REQ/S  5XX/S    P95',
        'worker  crash looping     1  0.90   90%  1000.0 MB   98%    80%      -      -      -      -',
        'web     running           2  0.50   50%   100.0 MB   10%      -      -   12.3    0.0  35 ms',
        'shop    running           2  0.10   10%   100.0 MB   10%      -      7      -    0.0  35 ms',
        'a-site  live              0     -     -          -     -      -      -   12.3    0.0  35 ms',
        '',
      ].join('\n'),
    )
    expect(received().map(({ id }) => id)).toEqual(['listServiceUsage'])
  })

  test('is narrowed to an environment', async () => {
    const other = usage({ serviceId: 'srv-1b1c2d3e4f5g6h7i8j9k', name: 'other' })
    const run = on({
      ...servingPlaces(),
      listServices: () => pageOf('service', [exampleService()]),
      listPostgres: () => pageOf('postgres', [exampleDatabase]),
      listKeyValue: () => [],
      listServiceUsage: () => [usage(), other, database],
    })
    const { stdout } = await run('top', '--environment', 'shop/staging', '--json')
    expect(JSON.parse(stdout).map(({ name }: ServiceUsage) => name)).toEqual(['web', 'shop'])
    expect(received().find(({ id }) => id === 'listServices')?.query).toMatchObject({ environmentId: [staging.id] })
  })

  test('is sorted as asked', async () => {
    const { stdout } = await on({ listServiceUsage: () => [worker, usage(), idle] })('top', '--once', '--sort', 'name')
    expect(stdout.split('\n').map((line) => line.split(' ')[0])).toEqual(['NAME', 'a-site', 'web', 'worker', ''])
  })

  test('gives up columns in a narrow terminal rather than to be wider', async () => {
    for (const columns of [78, 60, 45, 30, 20]) {
      const { stdout } = await on(
        { listServiceUsage: () => [usage({ name: 'a-service-with-a-long-name' }), worker] },
        { isTty: true, columns },
      )('top', '--once')
      for (const line of Bun.stripANSI(stdout).split('\n')) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(Math.max(columns, 15))
      expect(stdout).toContain('CPU')
      await stop()
    }
  })

  test('prints JSON with --json, and says what to do without a service', async () => {
    const { stdout } = await on({ listServiceUsage: () => [usage()] })('top', '--json')
    expect(JSON.parse(stdout)).toEqual([usage()])
    await stop()
    const { stderr } = await on({ listServiceUsage: () => [] })('top')
    expect(stderr).toContain('No services yet')
  })
})

/** A terminal of which somebody types, and which remembers what is on it. */
function typedTerminal() {
  let events: LocalEvents | undefined
  const state = { screen: '', isRestored: false, size: { columns: 60, rows: 8 } }
  const terminal: LocalTerminal = {
    isTyped: true,
    size: () => state.size,
    take(given) {
      events = given
      return {
        async show(bytes) {
          state.screen += new TextDecoder().decode(bytes)
        },
        pause() {},
        resume() {},
        restore() {
          state.isRestored = true
        },
      }
    },
  }
  const type = (text: string) => events?.onInput(new TextEncoder().encode(text))
  return {
    terminal,
    state,
    type,
    resize: (columns: number, rows: number) => {
      state.size = { columns, rows }
      events?.onResize(columns, rows)
    },
  }
}

describe('the screen of top', () => {
  const start = (ask: () => Promise<ServiceUsage[]>) => {
    const made = typedTerminal()
    const shown = showTop({ terminal: made.terminal, paint: createPaint(false), everyMs: 20, now: Date.now }, ask)
    return { ...made, shown }
  }

  test.each(['q', 'Q', '\u0003', '\u001b'])('is left by %j, and the terminal given back', async (key) => {
    const { state, type, shown } = start(async () => [usage()])
    await until('the table is shown', () => state.screen.includes('web'))
    type('\u001b[A')
    type('x')
    expect(state.isRestored).toBe(false)
    type(key)
    await shown
    expect(state.isRestored).toBe(true)
    expect(state.screen.startsWith('\u001b[?1049h\u001b[?25l')).toBe(true)
  })

  test('shows what changes, and no more lines than there are', async () => {
    let count = 0
    const { state, type, shown, resize } = start(async () =>
      Array.from({ length: 20 }, (_, index) => usage({ name: `s${index}`, instances: ++count })),
    )
    await until('it has asked twice', () => count > 40)
    const frame = state.screen.slice(state.screen.lastIndexOf('\u001b[H'))
    expect(frame.split('\r\n')).toHaveLength(8)
    expect(frame).toContain('… and 16 more')
    resize(60, 30)
    await until('all of them are shown', () => state.screen.slice(state.screen.lastIndexOf('\u001b[H')).includes('s19'))
    type('q')
    await shown
  })

  test('tells of a server that does not answer, keeps what it knew and asks again', async () => {
    let isDown = false
    const { state, type, shown } = start(async () => {
      if (isDown) throw new Error('The server is away\u001b[2J')
      return [usage()]
    })
    await until('the table is shown', () => state.screen.includes('web'))
    isDown = true
    await until('the trouble is told', () => state.screen.includes('The server is away'))
    const frame = state.screen.slice(state.screen.lastIndexOf('\u001b[H'))
    expect(frame).toContain('web')
    expect(frame).not.toContain('\u001b[2J')
    isDown = false
    await until('it is well again', () => state.screen.slice(state.screen.lastIndexOf('\u001b[H')).includes('q leaves'))
    type('q')
    await shown
  })
})
