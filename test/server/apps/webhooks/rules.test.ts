import { describe, expect, test } from 'vitest'
import { choose } from '../../../../server/apps/webhooks/dispatch/take.ts'
import { inOrder } from '../../../../server/apps/webhooks/dispatch/turn.ts'
import { type Happening, isWanted, type Wanted } from '../../../../server/apps/webhooks/filter.ts'
import { bodyOf } from '../../../../server/apps/webhooks/message.ts'
import type { Queued } from '../../../../server/apps/webhooks/queue-store.ts'
import { policyOf, requireUrl } from '../../../../server/apps/webhooks/url.ts'

const everything: Wanted = { eventFilter: [], serviceIds: [], environmentIds: [], projectIds: [] }
const event: Happening = { type: 'deploy_ended', serviceId: 'srv-1', environmentId: 'evm-1', projectId: 'prj-1' }

describe('a webhook is for', () => {
  test('everything, where it names nothing', () => {
    expect(isWanted(everything, event)).toBe(true)
    expect(isWanted(everything, { type: 'webhook_disabled', serviceId: null, environmentId: null, projectId: null })).toBe(true)
  })

  test('the types that it names', () => {
    expect(isWanted({ ...everything, eventFilter: ['deploy_ended', 'x'] }, event)).toBe(true)
    expect(isWanted({ ...everything, eventFilter: ['x'] }, event)).toBe(false)
  })

  test.each([
    { serviceIds: ['srv-1'] },
    { environmentIds: ['evm-1'] },
    { projectIds: ['prj-1'] },
    { serviceIds: ['srv-2'], environmentIds: ['evm-2'], projectIds: ['prj-1'] },
  ])('what stands in one of %j', (scope) => {
    expect(isWanted({ ...everything, ...scope }, event)).toBe(true)
    const elsewhere = { ...event, serviceId: 'srv-3', environmentId: 'evm-3', projectId: 'prj-3' }
    expect(isWanted({ ...everything, ...scope }, elsewhere)).toBe(false)
    expect(isWanted({ ...everything, ...scope }, { ...event, serviceId: null, environmentId: null, projectId: null })).toBe(false)
  })

  test('nothing, where all that it names is gone', () => {
    expect(isWanted({ ...everything, projectIds: ['prj-gone'] }, { ...event, projectId: null })).toBe(false)
  })
})

describe('the body of a message', () => {
  const told = { id: 'evt-1', type: 'deploy_ended', timestamp: '2026-01-31T09:30:00.000Z', serviceId: 'srv-1', serviceName: 'shop' }

  test('is thin', () => {
    expect(bodyOf({ ...told, details: JSON.stringify({ status: 'live', reason: 'internal' }) })).toBe(
      '{"type":"deploy_ended","timestamp":"2026-01-31T09:30:00.000Z","data":{"id":"evt-1","serviceId":"srv-1","serviceName":"shop","status":"succeeded"}}',
    )
  })

  test.each([
    ['deploy_ended', 'live', 'succeeded'],
    ['deploy_ended', 'update_failed', 'failed'],
    ['deploy_ended', 'canceled', 'canceled'],
    ['build_ended', 'build_failed', 'failed'],
    ['build_ended', 'succeeded', 'succeeded'],
    ['cron_job_run_ended', 'successful', 'succeeded'],
    ['cron_job_run_ended', 'unsuccessful', 'failed'],
    ['job_run_ended', 'canceled', 'canceled'],
    ['deploy_started', 'live', undefined],
    ['server_failed', undefined, undefined],
  ])('says of %s %s that it %s', (type, status, said) => {
    expect(JSON.parse(bodyOf({ ...told, type, details: JSON.stringify({ status }) })).data.status).toBe(said)
  })

  test('names no service where there is none', () => {
    const body = JSON.parse(bodyOf({ ...told, type: 'webhook_disabled', serviceId: null, serviceName: null, details: '{}' }))
    expect(body.data).toEqual({ id: 'evt-1' })
  })
})

describe('first attempts', () => {
  const queued = (seq: number, serviceId: string | null): Queued => ({
    ...{ webhookId: 'whk-1', eventId: `evt-${seq}`, eventType: 'x', body: '', attempts: 0, nextAttemptAt: 0 },
    seq,
    serviceId,
  })
  const idsOf = (items: readonly Queued[]) => items.map(({ eventId }) => eventId)

  test('are one at a time for each service, in order', () => {
    const untried = [queued(1, 'a'), queued(2, 'a'), queued(3, 'b'), queued(4, null), queued(5, null)]
    expect(idsOf(inOrder(untried, new Map()))).toEqual(['evt-1', 'evt-3', 'evt-4'])
  })

  test('wait for one of their service that is under way, and not for one that is tried again', () => {
    const untried = [queued(1, 'a'), queued(2, 'a'), queued(3, 'b')]
    expect(idsOf(inOrder(untried, new Map([['evt-1', { serviceId: 'a', attempts: 0 }]])))).toEqual(['evt-3'])
    expect(idsOf(inOrder(untried, new Map([['evt-0', { serviceId: 'a', attempts: 3 }]])))).toEqual(['evt-1', 'evt-3'])
  })
})

test('events are passed over up to the last that is taken', () => {
  const events = [1, 2, 3, 4, 5].map((seq) => ({ seq }))
  const isEven = ({ seq }: { seq: number }) => seq % 2 === 0
  expect(choose(events, 1, isEven)).toEqual({ chosen: [{ seq: 2 }], lastSeq: 2 })
  expect(choose(events, 9, isEven)).toEqual({ chosen: [{ seq: 2 }, { seq: 4 }], lastSeq: 5 })
  expect(choose([], 9, isEven)).toEqual({ chosen: [], lastSeq: undefined })
})

describe('a URL', () => {
  const closed = policyOf({ CP_OUTGOING_ALLOW: [] })
  const open = policyOf({ CP_OUTGOING_ALLOW: ['127.0.0.0/8', '10.0.0.0/8'] })

  test('is https, and kept in its usual spelling', () => {
    expect(requireUrl('https://Example.com', closed)).toBe('https://example.com/')
    expect(requireUrl('https://example.com:8443/a?b=c', closed)).toBe('https://example.com:8443/a?b=c')
  })

  test.each([
    ['nonsense', 'no URL'],
    ['http://example.com/', 'not https'],
    ['ftp://example.com/', 'not https'],
    ['file:///etc/passwd', 'not https'],
    ['https://user:secret@example.com/', 'user name or password'],
    ['https://example.com/#x', 'fragment'],
    ['http://localhost:8400/', 'private network'],
    ['https://127.0.0.1/', 'private network'],
    ['https://2130706433/', 'private network'],
    ['https://0x7f.1/', 'private network'],
    ['https://[::1]/', 'private network'],
    ['https://[::ffff:127.0.0.1]/', 'private network'],
    ['https://169.254.169.254/latest/meta-data', 'private network'],
    ['https://[fe80::1]/', 'private network'],
    ['https://10.0.0.1/', 'private network'],
    ['https://100.100.100.200/', 'private network'],
    ['https://192.168.0.1/', 'private network'],
    ['https://0.0.0.0/', 'private network'],
  ])('such as %s is refused, as it is %s', (url, problem) => {
    expect(() => requireUrl(url, closed)).toThrow(problem)
  })

  test('may lead to what the operator opened', () => {
    expect(requireUrl('http://127.0.0.1:9000/', open)).toBe('http://127.0.0.1:9000/')
    expect(requireUrl('http://localhost:9000/', open)).toBe('http://localhost:9000/')
    expect(requireUrl('https://10.1.2.3/', open)).toBe('https://10.1.2.3/')
    expect(() => requireUrl('http://10.1.2.3/', open)).toThrow('not https')
    expect(() => requireUrl('https://192.168.0.1/', open)).toThrow('private network')
  })
})
