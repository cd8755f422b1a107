import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { insertLag } from '../../../../server/apps/datastores/lag-store.ts'
import type { Context } from '../../../../server/boot/serve/context.ts'
import { LATENCY_BUCKETS, latencyBucket } from '../../../../server/ingress/traffic/latency.ts'
import { exposition, type Family, formatFor } from '../../../../server/insight/prometheus/exposition.ts'
import { histogramSamples } from '../../../../server/insight/prometheus/histogram.ts'
import { runProcess } from '../../../../server/platform/process/spawn.ts'
import type { Snapshot, Totals } from '../../../../server/telemetry/metrics/snapshot.ts'
import { tallyOf } from '../../../../server/telemetry/traffic/tally.ts'
import type { ServiceUsage } from '../../../../shared/metrics.ts'
import { addRole } from '../../../support/access.ts'
import { createService } from '../../../support/apps.ts'
import { call } from '../../../support/client.ts'
import { addDatastore } from '../../../support/datastores.ts'
import { defaultWorkspaceId } from '../../../support/members.ts'
import { startTestServer, type TestServer } from '../../../support/server.ts'
import { countsOf } from '../../telemetry/metrics/counts.ts'
import { trafficSample, usageSample } from '../../telemetry/metrics/store.ts'

const family = (fields: Partial<Family>): Family => ({
  name: 'cpd_x',
  help: 'Help.',
  type: 'gauge',
  samples: [{ labels: {}, value: 1 }],
  ...fields,
})

describe('the text format', () => {
  test('escapes what would end a label or a line', () => {
    const samples = [{ labels: { name: 'a"b\\c\nd{}=,ü' }, value: 1.5 }]
    expect(exposition([family({ help: 'One\\two\nthree "four"', samples })], 'text')).toBe(
      '# HELP cpd_x One\\\\two\\nthree "four"\n# TYPE cpd_x gauge\ncpd_x{name="a\\"b\\\\c\\nd{}=,ü"} 1.5\n',
    )
  })

  test('names counters as each format wants it, and ends as it does', () => {
    expect(exposition([family({ type: 'counter' })], 'text')).toBe('# HELP cpd_x_total Help.\n# TYPE cpd_x_total counter\ncpd_x_total 1\n')
    expect(exposition([family({ type: 'counter' })], 'openmetrics')).toBe(
      '# HELP cpd_x Help.\n# TYPE cpd_x counter\ncpd_x_total 1\n# EOF\n',
    )
    expect(exposition([family({ samples: [] })], 'text')).toBe('\n')
  })

  test.each([
    [null, 'text'],
    ['*/*', 'text'],
    ['text/plain;version=0.0.4', 'text'],
    [
      'application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1',
      'openmetrics',
    ],
    ['application/openmetrics-text;q=0.2,text/plain;q=0.9', 'text'],
    ['application/openmetrics-text;q=0', 'text'],
  ])('is chosen by what is accepted: %s', (accept, format) => {
    expect(formatFor(accept)).toBe(format)
  })
})

test('a histogram counts upwards by octaves, exactly, and ends with everything', () => {
  const counts = new Float64Array(LATENCY_BUCKETS)
  counts[latencyBucket(0.01)] = 1
  counts[latencyBucket(3)] = 10
  counts[latencyBucket(1000)] = 5
  counts[latencyBucket(1e9)] = 2
  const samples = histogramSamples({ service: 's' }, counts)
  const buckets = samples.filter(({ suffix }) => suffix === '_bucket').map(({ labels, value }) => [labels.le, value])
  expect(buckets[0]).toEqual(['0.000125', 1])
  expect(buckets).toContainEqual(['0.002', 1])
  expect(buckets).toContainEqual(['0.004', 11])
  expect(buckets).toContainEqual(['1.024', 16])
  expect(buckets.at(-2)).toEqual(['131.072', 16])
  expect(buckets.at(-1)).toEqual(['+Inf', 18])
  expect(samples.at(-1)).toEqual({ suffix: '_count', labels: { service: 's' }, value: 18 })
  const values = buckets.map(([, value]) => Number(value))
  expect(values).toEqual(values.toSorted((one, other) => one - other))
})

describe('a scrape', () => {
  let server: TestServer
  let ids: string[]
  let latest: Snapshot | undefined
  let storeId = ''
  let cacheId = ''
  let replicaId = ''
  const snapshotOf = (id: string) => ({
    facts: { id, hasLiveRelease: true, cpuLimit: 500, memoryLimit: 512 },
    total: usageSample(0, { disk: 300, diskSize: 1000 }),
    instances: ['00001', '00002'].map((end) => ({ instance: `${id}-${end}`, sample: usageSample(0), cpuTotalUs: 12_345_678 })),
    traffic: trafficSample(0),
  })
  const totals = new Map<string, ReturnType<typeof tallyOf>>()

  beforeAll(async () => {
    server = await startTestServer()
    const { metrics } = server.context
    const shown: Pick<Context['metrics'], 'latest' | 'totals'> = { latest: () => latest, totals: (): Totals => totals }
    Object.assign(metrics, shown)
    ids = [await createService(server, { name: 'we"b\\' }), await createService(server, { name: 'api' })]
    latest = {
      atMs: Date.now(),
      services: new Map(ids.map((id) => [id, snapshotOf(id)])),
    }
    storeId = addDatastore(server, { workspaceId: await defaultWorkspaceId(server), name: 'orders', isSuspended: true })
    latest = { ...latest, services: new Map([...latest.services, [storeId, snapshotOf(storeId)]]) }
    const workspaceId = await defaultWorkspaceId(server)
    cacheId = addDatastore(server, { workspaceId, kind: 'key_value', name: 'cache', isSuspended: true })
    replicaId = addDatastore(server, { workspaceId, name: 'orders-reads' })
    server.db.query("UPDATE datastores SET role = 'replica', primary_id = ? WHERE id = ?").run(storeId, replicaId)
    insertLag(server.db, { datastoreId: replicaId, at: Math.floor(Date.now() / 1000), lagMs: 1500 })
    const figures = { connections: 3, memory: 1024, keys: 5, hits: 7, misses: 1, evictions: 2, operations: 9 }
    for (const id of [cacheId, replicaId]) metrics.datastores.set(id, { workloadId: `${id}-1`, atMs: Date.now(), figures })
    for (const id of ids) for (const entry of countsOf('e', { [`${id}/x`]: 42 }).entries) totals.set(id, tallyOf(entry))
  })
  afterAll(() => server.close())

  const scrape = async (accept?: string) => {
    const headers = accept === undefined ? {} : { accept }
    return await call<string>(`${server.url}/metrics`, { token: server.adminToken, headers })
  }

  test('passes the checks of promtool', async () => {
    const promtool = Bun.which('promtool')
    if (promtool === null) throw new Error('This test needs promtool. On Debian: apt-get install prometheus')
    const check = async (text: string) => {
      const input = new TextEncoder().encode(text)
      const { exitCode, stdout, stderr } = await runProcess([promtool, 'check', 'metrics'], { input, env: { PATH: '/usr/bin:/bin' } })
      return { exitCode, output: stdout + stderr }
    }
    expect(await check((await scrape()).body)).toEqual({ exitCode: 0, output: '' })
    expect((await check('cpd_x{name="never closed} 1\n')).exitCode).not.toBe(0)
  })

  test('says what each instance uses and each service was asked for', async () => {
    const { body } = await scrape()
    expect(body).toContain(
      `cpd_instance_cpu_seconds_total{service="${ids[1]}",service_name="api",instance_id="${ids[1]}-00001"} 12.345678\n`,
    )
    expect(body).toContain(`cpd_http_requests_total{service="${ids[1]}",service_name="api",code_class="2xx"} 42\n`)
    expect(body).toContain(`cpd_http_bytes_total{service="${ids[1]}",service_name="api",direction="out"} 420\n`)
    expect(body).toContain('service_name="we\\"b\\\\"')
    expect(body).toMatch(/^cpd_build_info\{version="0\.0\.0-test"\} 1$/m)
  })

  test('says what servers of datastores tell of themselves, and how far replicas are behind', async () => {
    const { body } = await scrape()
    const ofReplica = `{service="${replicaId}",service_name="orders-reads"}`
    const ofStore = `{service="${cacheId}",service_name="cache"}`
    expect(body).toContain(`cpd_datastore_up${ofReplica} 0\n`)
    expect(body).toContain(`cpd_datastore_replication_lag_seconds${ofReplica} 1.5\n`)
    for (const line of ['connections', 'operations_total', 'cache_hits_total', 'cache_misses_total'])
      expect(body).toMatch(new RegExp(`^cpd_datastore_${line}\\{service="${cacheId}",service_name="cache"\\} \\d+$`, 'm'))
    expect(body).toContain(`cpd_key_value_memory_bytes${ofStore} 1024\n`)
    expect(body).toContain(`cpd_key_value_keys${ofStore} 5\n`)
    expect(body).toContain(`cpd_key_value_evicted_keys_total${ofStore} 2\n`)
    expect(body).not.toContain(`cpd_key_value_keys{service="${replicaId}"`)
  })

  test('says what databases use, and nothing of requests for them', async () => {
    const { body } = await scrape()
    expect(body).toContain(
      `cpd_instance_cpu_seconds_total{service="${storeId}",service_name="orders",instance_id="${storeId}-00001"} 12.345678\n`,
    )
    expect(body).toContain(`cpd_service_memory_limit_bytes{service="${storeId}",service_name="orders"} 536870912\n`)
    expect(body).toContain(`cpd_service_disk_used_bytes{service="${storeId}",service_name="orders"} 300\n`)
    expect(body).toContain(`cpd_service_disk_size_bytes{service="${storeId}",service_name="orders"} 1000\n`)
    expect(body).not.toContain(`cpd_http_bytes_total{service="${storeId}"`)
    expect(body).toContain('cpd_datastores{kind="postgres"} 2\n')
    expect(body).not.toContain(`cpd_datastore_up{service="${storeId}"`)
    const { body: listed } = await call<ServiceUsage[]>(`${server.url}/v1/metrics`, { token: server.adminToken })
    expect(listed.find(({ serviceId }) => serviceId === storeId)).toMatchObject({
      name: 'orders',
      type: 'postgres',
      state: 'suspended',
      cpuLimit: 1,
    })
  })

  test('tells of databases to nobody who sees none', async () => {
    const workspaceId = await defaultWorkspaceId(server)
    const role = addRole({ server, workspaceId }, ['services.read', 'metrics.read'])
    const { body: key } = await call<{ secret: string }>(`${server.url}/v1/api-keys`, {
      token: server.adminToken,
      json: { name: 'm', role },
    })
    const { body } = await call<ServiceUsage[]>(`${server.url}/v1/metrics`, { token: key.secret })
    expect(body.map(({ name }) => name)).toEqual(['api', 'we"b\\'])
  })

  test('is the same in OpenMetrics, in its own words', async () => {
    const { headers, body } = await scrape('application/openmetrics-text; version=1.0.0')
    expect(headers.get('content-type')).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8')
    expect(body.endsWith('\n# EOF\n')).toBe(true)
    expect(body).toContain('# TYPE cpd_http_requests counter\n')
    expect(body).not.toContain('# TYPE cpd_http_requests_total')
  })

  test('has each series once, and every family in one piece', async () => {
    const lines = (await scrape()).body.split('\n').filter((line) => line !== '')
    const series = lines.filter((line) => !line.startsWith('#')).map((line) => line.slice(0, line.lastIndexOf(' ')))
    expect(new Set(series).size).toBe(series.length)
    const names = lines.filter((line) => line.startsWith('# TYPE ')).map((line) => line.split(' ')[2] ?? '')
    expect(new Set(names).size).toBe(names.length)
    let current = ''
    for (const line of lines) {
      if (line.startsWith('# TYPE ')) current = line.split(' ')[2] ?? ''
      if (!line.startsWith('#')) expect(line.startsWith(current)).toBe(true)
    }
  })
})
