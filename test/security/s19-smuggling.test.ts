import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { exchangeRaw, proxyTo, startWorld, type World } from '../server/ingress/world.ts'
import { type RecordingUpstream, startRecordingUpstream } from '../support/recording-upstream.ts'
import { readRequests, type StrictRequest, valuesOf } from '../support/strict-http.ts'
import { type Payload, payloads } from './s19-payloads.ts'

/** Each payload has an ingress and an instance for itself while it is tried; several are tried at once. */
const LANES = 6

interface Lane {
  world: World
  upstream: RecordingUpstream
}

interface Outcome {
  /** What came back. */
  answer: string
  /** What reached the instance, by connection. */
  passed: string[]
}

const outcomes = new Map<string, Outcome>()
let lanes: Lane[] = []

beforeAll(async () => {
  lanes = await Promise.all(Array.from({ length: LANES }, startLane))
  const waiting = [...payloads]
  const work = async ({ world, upstream }: Lane) => {
    for (let payload = waiting.shift(); payload !== undefined; payload = waiting.shift()) {
      const { text } = await exchangeRaw(world.port, Buffer.from(payload.bytes, 'latin1'))
      outcomes.set(payload.name, { answer: text, passed: upstream.taken() })
    }
  }
  await Promise.all(lanes.map(work))
})

afterAll(async () => {
  await Promise.all(lanes.map(({ world }) => world.close()))
  for (const { upstream } of lanes) upstream.stop()
})

async function startLane(): Promise<Lane> {
  const upstream = startRecordingUpstream()
  const world = await startWorld({ limits: { headTimeoutMs: 150, bodyIdleMs: 150, keepAliveMs: 150, lingerMs: 50, upstreamIdleMs: 400 } })
  await world.publish({ 'a.test': proxyTo(upstream.port) })
  return { world, upstream }
}

function outcomeOf({ name }: Payload): Outcome {
  const outcome = outcomes.get(name)
  if (outcome === undefined) throw new Error(`${name} was not tried`)
  return outcome
}

/** The whole requests that a strict reader finds; it throws where it would have to guess. */
const arrived = ({ passed }: Outcome): StrictRequest[] => passed.flatMap((text) => readRequests(text).requests)

const statusesOf = ({ answer }: Outcome): number[] => [...answer.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))

test('there are payloads enough, each under a name of its own', () => {
  expect(payloads.length).toBeGreaterThanOrEqual(120)
  expect(new Set(payloads.map(({ name }) => name)).size).toBe(payloads.length)
})

describe('S19: refused, and no whole request reaches the instance', () => {
  test.each(payloads.filter(({ arrives }) => arrives === 0))('$name', (payload) => {
    const outcome = outcomeOf(payload)
    expect(arrived(outcome)).toEqual([])
    // The end of the connection is what let the outcome be known; before it there is one answer, and it says no.
    const [status, ...more] = statusesOf(outcome)
    expect(more).toEqual([])
    expect(status).toBeGreaterThanOrEqual(400)
  })
})

describe('S19: passed on in one form that reads in one way', () => {
  test.each(payloads.filter(({ arrives }) => arrives > 0))('$name', (payload) => {
    const outcome = outcomeOf(payload)
    const requests = arrived(outcome)
    const restBytes = outcome.passed.map((text) => readRequests(text).restBytes)
    expect(requests).toHaveLength(payload.arrives)
    expect(restBytes.every((bytes) => bytes === 0)).toBe(true)
    expect(statusesOf(outcome)).toEqual(Array.from({ length: payload.arrives }, () => 200))
    for (const request of requests) expectClean(request)
  })
})

/** What must hold for whatever reaches an instance. */
function expectClean({ host, fields, minorVersion }: StrictRequest): void {
  expect(host.toLowerCase()).toMatch(/^a\.test\.?(:80)?$/)
  expect(minorVersion).toBe(1)
  expect(valuesOf(fields, 'x-forwarded-for')).toEqual(['127.0.0.1'])
  expect(valuesOf(fields, 'x-forwarded-host')).toEqual([host])
  expect(valuesOf(fields, 'x-forwarded-proto')).toEqual(['http'])
  expect(valuesOf(fields, 'x-request-id')).toHaveLength(1)
  const names = fields.map(({ name }) => name)
  const dropped =
    /^(forwarded|x-real-ip|x-forwarded-anything|keep-alive|proxy-connection|te|http2-settings|.*_(for|host|ip|id|length|encoding))$/
  expect(names.filter((name) => dropped.test(name))).toEqual([])
  expect(valuesOf(fields, 'upgrade')).toEqual([])
  expect(valuesOf(fields, 'connection')).toEqual([])
}
