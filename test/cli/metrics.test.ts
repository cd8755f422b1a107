import { describe, expect, test } from 'vitest'
import { chartsOf } from '../../cli/metrics/charts.ts'
import { plot } from '../../cli/metrics/plot.ts'
import { nameSeries } from '../../cli/metrics/series.ts'
import { createPaint } from '../../cli/terminal/paint.ts'
import type { MetricUnit, TimeSeries } from '../../shared/metrics.ts'
import { exampleDatabase, exampleService, pageOf, serviceId } from './examples.ts'
import type { Answers } from './fake-server.ts'
import { serverPerTest } from './server-per-test.ts'
import { cpctl, testTime } from './terminal.ts'

const { on, received } = serverPerTest()

function series(labels: Record<string, string>, unit: MetricUnit, values: number[], stepMs = 60_000): TimeSeries {
  const from = testTime - values.length * stepMs
  return {
    labels: Object.entries({ resource: serviceId, ...labels }).map(([field, value]) => ({ field, value })),
    values: values.map((value, index) => ({ timestamp: new Date(from + index * stepMs).toISOString(), value })),
    unit,
  }
}
const first = series({ metric: 'cpu', instance: `${serviceId}-00001` }, 'cpu', [0, 0.25, 0.5])
const second = series({ metric: 'cpu', instance: `${serviceId}-00002` }, 'cpu', [0.1, 0.1, 0.1])
const latency = series({ metric: 'http-latency', quantile: '0.95' }, 'ms', [12.3, 40, 20])
const answers: Answers = {
  listServices: () => pageOf('service', [exampleService()]),
  getMetricsHistory: () => [first, second, latency],
}

describe('metrics', () => {
  test('asks for the last hour of the metrics people look at first', async () => {
    await on(answers)('metrics', 'web')
    const query = received().find(({ id }) => id === 'getMetricsHistory')?.query
    expect(query).toEqual({
      metric: ['cpu', 'memory', 'http-requests', 'http-latency'],
      startTime: new Date(testTime - 3_600_000).toISOString(),
      endTime: new Date(testTime).toISOString(),
    })
  })

  test('of a database are those that it has', async () => {
    await on({ ...answers, listServices: () => [], listPostgres: () => pageOf('postgres', [exampleDatabase]), listKeyValue: () => [] })(
      'metrics',
      'shop',
    )
    expect(received().at(-1)).toMatchObject({
      id: 'getMetricsHistory',
      params: { serviceId: exampleDatabase.id },
      query: { metric: ['cpu', 'memory', 'disk-usage', 'active-connections', 'operations'] },
    })
  })

  test('prints a plain table where nobody looks', async () => {
    const { stdout, exitCode } = await on(answers)('metrics', 'web', '--metric', 'cpu,http-latency', '--resolution', '1m')
    expect(exitCode).toBe(0)
    expect(received().at(-1)?.query).toMatchObject({ metric: ['cpu', 'http-latency'], resolutionSeconds: 60 })
    expect(stdout).toBe(
      [
        'TIME                      cpu/00001  cpu/00002  http-latency/p95',
        '2026-02-01T11:57:00.000Z          0        0.1              12.3',
        '2026-02-01T11:58:00.000Z       0.25        0.1                40',
        '2026-02-01T11:59:00.000Z        0.5        0.1                20',
        '',
      ].join('\n'),
    )
  })

  test('draws a chart for each metric on a terminal, with the figures of each line below', async () => {
    const { stdout } = await on(answers, { isTty: true, columns: 60 })('metrics', 'web')
    const plain = Bun.stripANSI(stdout)
    expect(plain).toContain('━ 00001: min 0 cpu, avg 0.25 cpu, max 0.5 cpu')
    expect(plain).toContain('━ p95: min 12 ms, avg 24 ms, max 40 ms')
    expect(plain.split('\n').filter((line) => line === 'cpu')).toHaveLength(1)
    expect(stdout).toContain('\u001b[')
    for (const line of plain.split('\n')) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(60)
  })

  test('draws each line by itself where there are no colours', async () => {
    const { stdout } = await on(answers, { isTty: true, columns: 40, env: { NO_COLOR: '1' } })('metrics', 'web')
    expect(stdout).not.toContain('\u001b[')
    expect(stdout.split('\n').filter((line) => line === 'cpu')).toHaveLength(2)
  })

  test('prints the JSON of the API with --json', async () => {
    const { stdout } = await on(answers)('metrics', 'web', '--json')
    expect(JSON.parse(stdout)).toEqual([first, second, latency])
  })

  test('says so when there is nothing, and refuses what is no metric, time or length', async () => {
    const { stdout, stderr, exitCode } = await on({ ...answers, getMetricsHistory: () => [] })('metrics', 'web')
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 0 })
    expect(stderr).toContain('Nothing was measured of web')
    for (const argv of [
      ['--metric', 'love'],
      ['--since', 'tomorrow'],
      ['--resolution', 'fine'],
      ['--resolution', '0'],
    ]) {
      expect((await cpctl(['metrics', 'web', ...argv])).exitCode).toBe(2)
    }
  })
})

describe('a plot', () => {
  const paint = createPaint(false)
  const space = { width: 30, height: 4, fromMs: 0, toMs: 60_000, joinedMs: 30_000, paint, format: String }

  test('begins at zero and ends above the highest value', () => {
    const lines = plot([{ points: [0, 1, 2, 3].map((index) => ({ atMs: index * 20_000, value: index })) }], space)
    expect(lines).toHaveLength(5)
    expect(lines[0]).toMatch(/^ {2}3 ┤ .*⠁$|^ {2}3 ┤ .*[⠈⠉⠊⡠⠔⠤⣀⠁]+$/)
    expect(lines[3]).toMatch(/^ {2}0 ┤[⣀⡠⠤⠔⢀⠤]+/)
  })

  test('leaves gaps where nothing was measured', () => {
    const level = (times: number[]) => plot([{ points: times.map((atMs) => ({ atMs, value: 1 })) }], space)[0] ?? ''
    expect(level([0, 20_000, 40_000, 60_000]).slice(5)).not.toContain(' ')
    expect(level([0, 20_000, 58_000, 60_000]).slice(5)).toContain('   ')
  })

  test('of one point, of zeros and of nothing is drawn all the same', () => {
    for (const points of [[{ atMs: 0, value: 5 }], [{ atMs: 0, value: 0 }], []]) expect(plot([{ points }], space)).toHaveLength(5)
  })

  test('of text from elsewhere is harmless: names are cleaned of what moves the cursor', () => {
    const named = nameSeries(series({ metric: 'cpu', instance: 'job-\u001b[2Jx' }, 'cpu', [1, 2]))
    const chart = chartsOf([named], { width: 40, fromMs: 0, toMs: 1, paint, isColoured: false })
    expect(chart).not.toContain('\u001b[2J')
  })
})
