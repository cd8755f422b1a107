import { describe, expect, test } from 'vitest'
import { composeMessage, type Told } from '../../../../server/apps/notifications/compose.ts'
import { GROUPED_MS, levelOf, messageDueAt, type Problem, reactTo, retryAt } from '../../../../server/apps/notifications/plan.ts'
import { maskedUrl } from '../../../../server/apps/notifications/settings.ts'
import type { Sign } from '../../../../server/apps/notifications/sign.ts'
import { signOf } from '../../../../server/apps/notifications/signs.ts'
import type { EventType } from '../../../../shared/event.ts'

const AT = Date.UTC(2026, 0, 1)

const signs = (type: EventType, details: Record<string, unknown>): Sign | undefined =>
  signOf({
    ...{ seq: 1, id: 'evt', workspaceId: 'tea', serviceId: 'srv', serviceName: 'web', environmentId: null },
    ...{ type, details, timestamp: new Date(AT).toISOString() },
  })
const sign = (type: EventType, details: Record<string, unknown> = {}): Sign => {
  const found = signs(type, details)
  if (found === undefined) throw new Error(`${type} is no sign`)
  return found
}
const failed = (deployId: string): Sign => sign('deploy_ended', { deployId, status: 'build_failed', reason: 'It exited with 1' })

/** What is told of signs that come one after the other, a second apart. */
function toldOf(all: readonly Sign[], level: 'none' | 'failure' | 'all' = 'failure') {
  const problems = new Map<string, Problem>()
  return all.map((one, index) => {
    const { tells, problem } = reactTo(one, { problem: problems.get(one.topic), level, at: AT + index * 1000 })
    problems.delete(one.topic)
    if (problem !== undefined) problems.set(one.topic, problem)
    return tells
  })
}

describe('what is told', () => {
  test('of deploys is each that fails, and the next that goes live', () => {
    const live = sign('deploy_ended', { deployId: 'c', status: 'live' })
    expect(toldOf([failed('a'), failed('b'), live, live])).toEqual(['failure', 'failure', 'over', undefined])
  })

  test('of a release that is taken back is one failure, not two', () => {
    const taken = sign('cutover_reverted', { deployId: 'a', reason: 'Far worse' })
    expect(toldOf([taken, sign('deploy_ended', { deployId: 'a', status: 'update_failed' })])).toEqual(['failure', undefined])
  })

  test('of an instance that dies again and again is once that it does, and its starts in between are no end', () => {
    const [died, serves] = [sign('server_failed', { instanceId: 'i', reason: 'It died' }), sign('server_available')]
    expect(toldOf([died, serves, died, serves, died])).toEqual(['failure', undefined, undefined, undefined, undefined])
  })

  test('is over when it has stayed good for five minutes, counted from the first good sign after the last bad one', () => {
    const problem = (overAt: number | null) => ({ about: null, overAt })
    const react = (one: Sign, before: Problem) => reactTo(one, { problem: before, level: 'failure', at: AT }).problem
    expect(react(sign('server_available'), problem(null))).toEqual(problem(AT + 5 * 60_000))
    expect(react(sign('server_available'), problem(AT + 7))).toEqual(problem(AT + 7))
    expect(react(sign('server_failed'), problem(AT + 7))).toEqual(problem(null))
  })

  test('of a disabled webhook is each time, as nothing says that it is over', () => {
    expect(toldOf([sign('webhook_disabled', { name: 'a' }), sign('webhook_disabled', { name: 'a' })])).toEqual(['failure', 'failure'])
  })

  test('of releases that go live is what wants to hear of all', () => {
    const live = sign('deploy_ended', { status: 'live' })
    expect(toldOf([live], 'all')).toEqual(['news'])
    expect(toldOf([live], 'failure')).toEqual([undefined])
  })

  test('is nothing where nothing is wanted, and what began meanwhile is not told to be over later', () => {
    expect(toldOf([failed('a')], 'none')).toEqual([undefined])
    expect(reactTo(failed('a'), { problem: undefined, level: 'none', at: AT }).problem).toBeUndefined()
  })

  test('of canceled deploys, jobs of people and shells is nothing', () => {
    expect(signs('deploy_ended', { status: 'canceled' })).toBeUndefined()
    expect(signs('job_run_ended', { status: 'failed' })).toBeUndefined()
    expect(signs('shell_opened', {})).toBeUndefined()
  })

  test('of a repository is once that it cannot be had, and once that it can', () => {
    const [lost, back] = [
      sign('repository_unreachable', { repository: 'a', reason: 'Gone' }),
      sign('repository_reachable', { repository: 'b' }),
    ]
    expect(lost).toMatchObject({ reason: 'Gone' })
    expect(toldOf([lost, back])).toEqual(['failure', 'over'])
  })

  test('of disks and certificates is by what it is about', () => {
    const [one, other] = ['a.example.com', 'b.example.com'].map((domain) => sign('certificate_failed', { domain, message: 'No DNS' }))
    expect(one?.topic).not.toBe(other?.topic)
    expect(sign('certificate_issued', { domain: 'a.example.com' }).topic).toBe(one?.topic ?? '')
    expect(sign('disk_created', { diskId: 'd' }).topic).toBe(sign('disk_create_failed', { diskId: 'd' }).topic)
  })
})

test('of a datastore, failures and their end are of one topic for each thing that can fail', () => {
  const pairs: [EventType, EventType][] = [
    ['postgres_unavailable', 'postgres_available'],
    ['key_value_unhealthy', 'key_value_available'],
    ['postgres_disk_nearly_full', 'postgres_disk_writable'],
    ['postgres_disk_full', 'postgres_disk_writable'],
    ['postgres_backup_failed', 'postgres_backup_completed'],
    ['postgres_backup_damaged', 'postgres_backup_verified'],
    ['postgres_wal_archive_failed', 'postgres_wal_archive_resumed'],
  ]
  for (const [bad, good] of pairs) expect([sign(bad, {}).topic, sign(bad, {}).kind]).toEqual([sign(good, {}).topic, 'bad'])
  const nearlyFull = reactTo(sign('postgres_disk_nearly_full', {}), { problem: undefined, level: 'failure', at: AT })
  expect(reactTo(sign('postgres_disk_full', {}), { problem: nearlyFull.problem, level: 'failure', at: AT }).tells).toBe('failure')
})

test('what is set for a service goes before what holds in its workspace', () => {
  expect([levelOf('default', 'all'), levelOf('none', 'all'), levelOf('all', 'none')]).toEqual(['all', 'none', 'all'])
})

test('all of a minute goes into one message', () => {
  expect(messageDueAt([])).toBeUndefined()
  expect(messageDueAt([AT + 20_000, AT, AT + 59_000])).toBe(AT + GROUPED_MS)
})

test('a message is tried five times, at growing pauses', () => {
  expect([1, 2, 3, 4, 5].map((attempts) => retryAt(attempts, 0))).toEqual([60_000, 300_000, 1_800_000, 7_200_000, undefined])
})

describe('a message', () => {
  const told = (more: Partial<Told> = {}): Told => ({
    ...{
      kind: 'failure',
      serviceId: 'srv',
      serviceName: 'web',
      title: 'Deploy failed',
      reason: 'It exited with 1',
      happenedAt: AT,
      lines: [],
    },
    ...more,
  })

  test('says what failed, why, and the last lines', () => {
    expect(composeMessage([told({ lines: ['one', 'two'] })], 'Acme')).toEqual({
      subject: 'web: Deploy failed',
      text: '[FAILED] web: Deploy failed (2026-01-01 00:00:00 UTC)\nIt exited with 1\nIts last lines:\n    one\n    two',
    })
  })

  test('of twenty-five failures and an end counts them, and shows twenty', () => {
    const all = [...Array.from({ length: 25 }, () => told()), told({ kind: 'over', title: 'Deploy is live' })]
    const { subject, text } = composeMessage(all, 'Acme')
    expect(subject).toBe('Acme: 25 failed, 1 over')
    expect(text.match(/\[FAILED\]/g)).toHaveLength(20)
    expect(text).toContain('and 6 more')
  })
})

test('of a URL only its host and its end are shown, and of a short one no end', () => {
  expect(maskedUrl('https://hooks.slack.com/services/T0/B0/abcdefgh')).toBe('https://hooks.slack.com/…efgh')
  expect(maskedUrl('https://chat.example.com/x')).toBe('https://chat.example.com/…')
})
