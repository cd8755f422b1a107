import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fineLevel } from '../../../../server/telemetry/metrics/levels.ts'
import type { ServiceUsage, TimeSeries } from '../../../../shared/metrics.ts'
import { call } from '../../../support/client.ts'
import { type Platform, startPlatform } from '../../../support/platform.ts'
import { makeService, type TestService } from '../../../support/service.ts'
import { until } from '../../../support/until.ts'
import { kernelCpuSeconds, kernelMemoryBytes } from './kernel.ts'

const MIB = 1024 * 1024
const SWEEPS = 3
/** Three sweeps and what a busy machine needs to begin. */
const TIMEOUT_MS = 120_000

let platform: Platform
let modest: TestService
let greedy: TestService

beforeAll(async () => {
  platform = await startPlatform()
  const make = (name: string, BURN: string, HOLD: string) =>
    makeService(platform, {
      name,
      envVars: [
        { key: 'BURN', value: BURN },
        { key: 'HOLD', value: HOLD },
      ],
      serviceDetails: { plan: 'starter' },
    })
  modest = await make('modest', '0.1', '100')
  greedy = await make('greedy', '1', '10')
  await modest.goLive('known-load')
  await greedy.goLive('known-load')
}, TIMEOUT_MS)
afterAll(() => platform.close())

const get = async <T>(path: string): Promise<T> => (await call<T>(platform.url + path, { token: platform.adminToken })).body
const sampledAt = () => platform.context.metrics.latest()?.atMs ?? 0

/** Waits for the next sweep and tells what the kernel says in that moment. */
async function nextSweep(ids: [service: string, instance: string][]): Promise<number[]> {
  const before = sampledAt()
  await until('there is another sweep', () => sampledAt() > before, TIMEOUT_MS)
  return ids.map(([service, instance]) => kernelCpuSeconds(service, instance))
}

const onlyInstance = async (service: TestService): Promise<string> => (await service.instances())[0]?.id ?? ''

describe('a known load', () => {
  test(
    'is within 5 % of what the kernel accounts for, and within the quota of the plan',
    async () => {
      const instances: [string, string][] = [
        [modest.id, await onlyInstance(modest)],
        [greedy.id, await onlyInstance(greedy)],
      ]
      const before = await nextSweep(instances)
      const startedAt = sampledAt()
      let after = before
      for (let sweep = 0; sweep < SWEEPS; sweep++) after = await nextSweep(instances)
      const seconds = (sampledAt() - startedAt) / 1000
      for (const [index, [service, instance]] of instances.entries()) {
        const startTime = new Date(Math.floor(startedAt / 10_000) * 10_000).toISOString()
        const history = await get<TimeSeries[]>(`/v1/services/${service}/metrics/history?metric=cpu&startTime=${startTime}`)
        const values = history.find(({ labels }) => labels.some(({ value }) => value === instance))?.values ?? []
        const measured = values.slice(-SWEEPS).reduce((sum, { value }) => sum + value, 0) / SWEEPS
        const kernel = ((after[index] ?? 0) - (before[index] ?? 0)) / seconds
        expect(values.length).toBeGreaterThanOrEqual(SWEEPS)
        expect(Math.abs(measured / kernel - 1)).toBeLessThan(0.05)
        expect(measured).toBeLessThan(0.5 * 1.05)
      }
    },
    TIMEOUT_MS,
  )

  test('holds the memory it holds', async () => {
    const [series] = await get<TimeSeries[]>(`/v1/metrics/${modest.id}/memory`)
    const measured = series?.values[0]?.value ?? 0
    expect(series?.unit).toBe('bytes')
    expect(Math.abs(measured / kernelMemoryBytes(modest.id, await onlyInstance(modest)) - 1)).toBeLessThan(0.05)
    expect(measured).toBeGreaterThan(100 * MIB)
    expect(measured).toBeLessThan(512 * MIB)
  })

  test('is shown beside its limits in one request', async () => {
    const [first, second] = await get<ServiceUsage[]>('/v1/metrics')
    expect([first?.name, second?.name]).toEqual(['greedy', 'modest'])
    expect(first).toMatchObject({ state: 'running', instances: 1, cpuLimit: 0.5, memoryLimitBytes: 512 * MIB })
    expect(first?.cpu).toBeGreaterThan(second?.cpu ?? 1)
  })
})

describe('requests', () => {
  test(
    'are counted to the last one, with their classes, bytes and latency',
    async () => {
      const ask = (path: string) =>
        fetch(`http://${platform.ingress.address}${path}`, { headers: { host: 'modest.localhost' } }).then((response) => response.text())
      await until('the ingress has been heard', () => platform.context.metrics.latest()?.services.get(modest.id)?.traffic !== undefined)
      for (let count = 0; count < 40; count++) await ask(count % 4 === 0 ? '/missing' : '/')
      const query = `resource=${modest.id}&aggregateBy=statusCode`
      const countOf = async (status: string): Promise<number> => {
        const series = await get<TimeSeries[]>(`/v1/metrics/http-requests?${query}`)
        const one = series.find(({ labels }) => labels.some(({ value }) => value === status))
        return one?.values.reduce((sum, { value }) => sum + value, 0) ?? 0
      }
      await until('all of them are in the samples', async () => (await countOf('2xx')) + (await countOf('4xx')) >= 40)
      expect([await countOf('2xx'), await countOf('4xx')]).toEqual([30, 10])
      const [latency] = await get<TimeSeries[]>(`/v1/metrics/http-latency?resource=${modest.id}&quantile=0.5&resolutionSeconds=3600`)
      expect(latency?.unit).toBe('ms')
      expect(latency?.values.at(-1)?.value).toBeGreaterThan(4)
      const bandwidth = await get<TimeSeries[]>(`/v1/metrics/bandwidth?resource=${modest.id}&resolutionSeconds=7200`)
      expect(bandwidth.map(({ labels }) => labels.at(-1)?.value)).toEqual(['in', 'out'])
      expect(bandwidth[1]?.values.reduce((sum, { value }) => sum + value, 0)).toBe(40 * '104857600\n'.length)
    },
    TIMEOUT_MS,
  )

  test('of a service that is deleted go with it', async () => {
    await call(`${platform.url}/v1/services/${greedy.id}`, { method: 'DELETE', token: platform.adminToken })
    const { metrics, now } = platform.context
    await until('nothing of it is left', () => {
      const end = now() / 1000
      return metrics.usageOfInstances({ services: [greedy.id], level: fineLevel, start: end - 3600, end }).length === 0
    })
  })
})
