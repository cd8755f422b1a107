import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { latencyBucket } from '../../../../server/ingress/traffic/latency.ts'
import { openMetricsDatabase } from '../../../../server/telemetry/metrics/database.ts'
import { rollUp } from '../../../../server/telemetry/metrics/roll-up.ts'
import { writeSweep } from '../../../../server/telemetry/metrics/write.ts'
import type { TimeSeries } from '../../../../shared/metrics.ts'
import { expectError } from '../../../conformance/expect-error.ts'
import { createService } from '../../../support/apps.ts'
import { call } from '../../../support/client.ts'
import { makeKey, registerTenant, type Tenant } from '../../../support/members.ts'
import { startTestServer, type TestServer } from '../../../support/server.ts'
import { packed, trafficSample, usageSample } from './store.ts'

const nowMs = Date.parse('2026-06-15T12:00:03.000Z')
const end = Math.floor(nowMs / 10_000) * 10
const DAY = 86_400
const MIB = 1024 * 1024

let server: TestServer
let stranger: Tenant
let web: string
let api: string

/** Two services with two instances each, for an hour of ten seconds, and a day of a year ago. */
beforeAll(async () => {
  server = await startTestServer({ parts: { now: () => nowMs } })
  stranger = await registerTenant(server, 'stranger@example.com')
  web = await createService(server, { name: 'web' })
  api = await createService(server, { name: 'api' })
  const { paths, log } = server.context
  const database = openMetricsDatabase(paths.metricsDb, log)
  const times = Array.from({ length: 360 }, (_, index) => end - 3600 + index * 10)
  for (const at of [end - 300 * DAY, ...times]) {
    const usage = [web, api].flatMap((service) => [
      { service, instance: '', sample: usageSample(at, { cpuUs: 7_500_000, disk: 30 * MIB, diskSize: 974 * MIB }) },
      { service, instance: `${service}-00001`, sample: usageSample(at, { cpuUs: 5_000_000, cpuPeak: 900_000 }) },
      { service, instance: `${service}-00002`, sample: usageSample(at, { cpuUs: 2_500_000, cpuPeak: 300_000 }) },
    ])
    const requests = [0, 0, 8, 0, 2, 0]
    const latency = packed({ [latencyBucket(4)]: 9, [latencyBucket(500)]: 1 })
    const traffic = [web].map((service) => ({ service, instance: '', sample: trafficSample(at, { requests, latency, bytesOut: 100 }) }))
    const sweep = { usage, traffic, readings: [], changedTallies: [], goneTallies: [], trafficAtMs: undefined }
    database.use((opened) => writeSweep(opened, sweep))
    if (at !== times.at(-1)) continue
    await rollUp(database, end, async () => {})
  }
  database.close()
})
afterAll(() => server.close())

const ask = <T = TimeSeries[]>(path: string, token = server.adminToken) => call<T>(`${server.url}/v1${path}`, { token })
const labelsOf = ({ labels }: TimeSeries) => Object.fromEntries(labels.map(({ field, value }) => [field, value]))
const shape = (series: TimeSeries[]) => series.map((one) => [labelsOf(one), one.unit, one.values.length, one.values[0]?.value])

test('disks are told by service, and only where one was measured', async () => {
  for (const [metric, bytes] of [
    ['disk-usage', 30 * MIB],
    ['disk-capacity', 974 * MIB],
  ])
    expect(shape((await ask(`/metrics/${metric}?resource=${web}`)).body)).toEqual([[{ resource: web }, 'bytes', 360, bytes]])
})

describe('the history of a service', () => {
  test('has a series for each instance and metric, in order, at ten seconds of the last hour', async () => {
    const { body } = await ask(
      `/services/${web}/metrics/history?metric=cpu,http-requests&metric=http-latency,bandwidth,instance-count,cpu-limit`,
    )
    expect(shape(body)).toEqual([
      [{ metric: 'cpu', resource: web, instance: `${web}-00001` }, 'cpu', 360, 0.5],
      [{ metric: 'cpu', resource: web, instance: `${web}-00002` }, 'cpu', 360, 0.25],
      [{ metric: 'http-requests', resource: web }, 'requests', 360, 10],
      [{ metric: 'http-latency', resource: web, quantile: '0.5' }, 'ms', 360, expect.closeTo(4, 0)],
      [{ metric: 'http-latency', resource: web, quantile: '0.95' }, 'ms', 360, expect.closeTo(500, -2)],
      [{ metric: 'http-latency', resource: web, quantile: '0.99' }, 'ms', 360, expect.closeTo(500, -2)],
      [{ metric: 'bandwidth', resource: web, direction: 'in' }, 'bytes', 360, 0],
      [{ metric: 'bandwidth', resource: web, direction: 'out' }, 'bytes', 360, 100],
      [{ metric: 'instance-count', resource: web }, 'instances', 360, 2],
      [{ metric: 'cpu-limit', resource: web }, 'cpu', 360, 0.5],
    ])
  })

  test('is joined into longer steps, with times that begin them', async () => {
    const { body } = await ask(`/services/${web}/metrics/history?metric=http-requests&resolutionSeconds=600`)
    const [series] = body
    expect(series?.values.map(({ value }) => value)).toEqual(Array(6).fill(600))
    expect(series?.values[0]?.timestamp).toBe('2026-06-15T11:00:00.000Z')
  })

  test('of long ago is of days, of the service as a whole', async () => {
    const { body } = await ask(`/services/${web}/metrics/history?metric=cpu,http-requests&startTime=2025-06-16T00:00:00Z`)
    expect(body.map(labelsOf)).toEqual([
      { metric: 'cpu', resource: web },
      { metric: 'http-requests', resource: web },
    ])
    expect(body[1]?.values[0]).toEqual({ timestamp: '2025-08-19T00:00:00.000Z', value: 10 })
  })
})

describe("Render's queries", () => {
  test('answer several services at once, by either name of the parameter', async () => {
    const { body } = await ask(`/metrics/cpu?resource=${web}&service=${api}&resolutionSeconds=3600`)
    expect(body.map((one) => labelsOf(one).instance)).toEqual([`${web}-00001`, `${web}-00002`, `${api}-00001`, `${api}-00002`])
  })

  test.each([
    ['AVG', 0.375],
    ['MIN', 0.25],
    ['MAX', 0.9],
  ])('join instances by %s', async (method, value) => {
    const { body } = await ask(`/metrics/cpu?resource=${web}&aggregationMethod=${method}&resolutionSeconds=60`)
    expect(shape(body)).toEqual([[{ resource: web }, 'cpu', 60, value]])
  })

  test('are of some instances only', async () => {
    const { body } = await ask(`/metrics/memory?resource=${web}&instance=${web}-00002`)
    expect(shape(body)).toEqual([[{ resource: web, instance: `${web}-00002` }, 'bytes', 360, 1000]])
  })

  test('tell requests apart by class of status, and latencies by quantile', async () => {
    const requests = await ask(`/metrics/http-requests?resource=${web}&aggregateBy=statusCode&resolutionSeconds=3600`)
    expect(requests.body.map((one) => labelsOf(one).statusCode)).toEqual(['2xx', '4xx'])
    const latency = await ask(`/metrics/http-latency?resource=${web}&quantile=0.5,0.99&quantile=0.5`)
    expect(latency.body.map((one) => labelsOf(one).quantile)).toEqual(['0.5', '0.99'])
  })

  test('find no requests of a host or path, which are not counted, and all hosts together', async () => {
    for (const path of ['http-requests', 'http-latency'])
      for (const filter of ['host=a.example.com', 'path=/x', 'path=/x&path=/y'])
        expect((await ask(`/metrics/${path}?resource=${web}&${filter}`)).body).toEqual([])
    const { body } = await ask(`/metrics/http-requests?resource=${web}&aggregateBy=host`)
    expect(body).toEqual((await ask(`/metrics/http-requests?resource=${web}`)).body)
    expect(body.length).toBe(1)
    expectError(await ask('/metrics/http-requests?resource=srv-00000000000000000000&host=a'), 'not_found')
  })

  test('refuse what is not counted, by name', async () => {
    for (const [path, field] of [
      [`/metrics/http-requests?resource=${web}&aggregateBy=day`, '/aggregateBy'],
      [`/metrics/http-latency?resource=${web}&quantile=1.5`, '/quantile/0'],
      [`/metrics/cpu?resource=${web}&aggregationMethod=SUM`, '/aggregationMethod'],
      [`/metrics/cpu?resource=${web}&resolutionSeconds=0`, '/resolutionSeconds'],
      [`/metrics/cpu?resource=${web}&startTime=yesterday`, '/startTime'],
      [`/metrics/cpu?resource=${web}&startTime=2026-01-02T00:00:00Z&endTime=2026-01-01T00:00:00Z`, '/startTime'],
      [`/metrics/cpu?resource=${web}&startTime=2025-07-01T00:00:00Z&aggregationMethod=AVG`, '/startTime'],
      ['/metrics/cpu', '/resource'],
      [`/services/${web}/metrics/history?metric=love`, '/metric/0'],
    ] as const) {
      expect(expectError(await ask(path), 'validation_failed').details?.[0]?.path).toBe(field)
    }
  })

  test('take whatever text there is without an internal error', async () => {
    const texts = [
      "';DROP TABLE usage;--",
      '$(touch /tmp/x)',
      '../../etc/passwd',
      '\u202e',
      '%00',
      '"',
      '\\',
      '9'.repeat(400),
      '-1',
      '1e9',
      '{}',
    ]
    const names = [
      'resource',
      'service',
      'instance',
      'startTime',
      'endTime',
      'resolutionSeconds',
      'quantile',
      'aggregateBy',
      'host',
      'path',
      'metric',
    ]
    for (const text of texts) {
      for (const name of names) {
        const query = `resource=${web}&${name}=${encodeURIComponent(text)}`
        for (const path of [`/metrics/cpu?${query}`, `/metrics/http-latency?${query}`, `/services/${web}/metrics/history?${query}`]) {
          expect([200, 400, 404]).toContain((await ask(path)).status)
        }
      }
    }
  })
})

describe('the metrics of another workspace', () => {
  test('are not found, alone or among others', async () => {
    const theirs = await createService(server, { name: 'theirs' }, stranger.token)
    for (const path of [
      `/metrics/${web}/cpu`,
      `/metrics/${web}/memory`,
      `/services/${web}/metrics/history`,
      `/metrics/cpu?resource=${web}`,
      `/metrics/http-requests?resource=${theirs},${web}`,
      `/metrics/bandwidth?service=${web}`,
    ]) {
      expectError(await ask(path, stranger.token), 'not_found')
    }
    expect((await ask<{ name: string }[]>('/metrics', stranger.token)).body.map(({ name }) => name)).toEqual(['theirs'])
  })

  test('are hidden from Prometheus too, and the server itself is told to its first workspace only', async () => {
    const scrape = (token: string) => call<string>(`${server.url}/metrics`, { token })
    const own = await scrape(server.adminToken)
    const other = await scrape(stranger.token)
    expect(own.body).toContain('cpd_build_info')
    expect(own.body).toContain('service_name="web"')
    expect(other.body).not.toContain('cpd_build_info')
    expect(other.body).not.toContain(web)
    const viewer = await makeKey(server, 'viewer')
    expect((await scrape(viewer.secret)).status).toBe(200)
    const billing = await makeKey(server, 'billing')
    expectError(await scrape(billing.secret), 'forbidden')
    expectError(await call(`${server.url}/metrics`), 'unauthorized')
  })
})
