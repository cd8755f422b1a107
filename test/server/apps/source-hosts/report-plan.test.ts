import { describe, expect, test } from 'vitest'
import type { CommitReport } from '../../../../server/apps/source-hosts/port.ts'
import { commitStatusOf } from '../../../../server/apps/source-hosts/providers/commit-status.ts'
import { environmentOf } from '../../../../server/apps/source-hosts/reports/environment.ts'
import { lastReportOf, MAX_ATTEMPTS, progress, reportOf, repositoryOf } from '../../../../server/apps/source-hosts/reports/plan.ts'
import type { DeployOfCommit, StoredReport } from '../../../../server/apps/source-hosts/store/reports.ts'
import { deployStatuses } from '../../../../shared/deploy.ts'

const NOW = 1_000_000
const deploy = (changes: Partial<DeployOfCommit> = {}): DeployOfCommit => ({
  id: 'dep-1',
  serviceId: 'srv-1',
  status: 'queued',
  commitId: 'a'.repeat(40),
  slug: 'shop',
  type: 'web_service',
  repo: 'https://git.example.com/acme/shop',
  sourceRepository: null,
  sourceId: null,
  isNewest: 1,
  ...changes,
})
const report = (of: DeployOfCommit, before?: StoredReport) =>
  reportOf(of, { before, workspaceId: 'tea-1', domain: 'apps.example.com', now: NOW })
const told = (state: StoredReport['told'], changes: Partial<StoredReport> = {}): StoredReport => {
  const first = report(deploy())
  if (first === undefined) throw new Error('Nothing is to be told')
  return { ...first, told: state, wanted: state ?? 'queued', ...changes }
}

describe('a deploy of a commit', () => {
  test('is told as it goes, each state once', () => {
    expect(report(deploy())).toMatchObject({
      id: 'dep-1',
      deployId: 'dep-1',
      wanted: 'queued',
      told: null,
      environment: 'shop.apps.example.com',
    })
    expect(report(deploy(), told('queued'))).toBeUndefined()
    expect(report(deploy({ status: 'build_in_progress' }), told('queued'))).toMatchObject({ wanted: 'in_progress' })
    expect(report(deploy({ status: 'update_in_progress' }), told('in_progress'))).toBeUndefined()
    expect(report(deploy({ status: 'live' }), told('in_progress'))).toMatchObject({ wanted: 'success' })
    expect(report(deploy({ status: 'deactivated' }), told('success'))).toMatchObject({ wanted: 'inactive' })
    expect(report(deploy({ status: 'live' }), told('inactive'))).toMatchObject({ wanted: 'success' })
  })

  test('of which nobody heard is not told once it is over without having run', () => {
    for (const status of ['canceled', 'deactivated'] as const) expect(report(deploy({ status }))).toBeUndefined()
    expect(report(deploy({ status: 'build_failed' }))).toMatchObject({ wanted: 'failure' })
  })

  test('is told for about a day, and its next state anew', () => {
    const tired = told(null, { attempts: MAX_ATTEMPTS, nextAttemptAt: 5 })
    expect(report(deploy(), tired)).toBeUndefined()
    expect(report(deploy(), { ...tired, attempts: MAX_ATTEMPTS - 1 })).toMatchObject({ nextAttemptAt: 5 })
    expect(report(deploy({ status: 'live' }), tired)).toMatchObject({ wanted: 'success', attempts: 0, nextAttemptAt: NOW })
  })

  test('that is gone is told to be over, unless it was', () => {
    expect(lastReportOf(told('success'), NOW)).toMatchObject({ wanted: 'inactive' })
    expect(lastReportOf(told('in_progress'), NOW)).toMatchObject({ wanted: 'canceled' })
    for (const state of [null, 'failure', 'canceled', 'inactive'] as const) expect(lastReportOf(told(state), NOW)).toBeUndefined()
    expect(lastReportOf(told('success', { wanted: 'inactive', attempts: MAX_ATTEMPTS }), NOW)).toBeUndefined()
  })

  test('is of the repository that its source is out of, and of none where it was pushed to us', () => {
    const repo = 'https://Git.example.com/acme/shop.git'
    expect(repositoryOf(deploy({ repo }))).toBe(repo)
    expect(repositoryOf(deploy({ repo, sourceId: 'src-1', sourceRepository: 'git.example.com/acme/shop' }))).toBe(repo)
    expect(repositoryOf(deploy({ repo, sourceId: 'src-1', sourceRepository: 'git.example.com/acme/blog' }))).toBeUndefined()
    expect(repositoryOf(deploy({ repo, sourceId: 'src-1' }))).toBeUndefined()
    expect(repositoryOf(deploy({ repo: '' }))).toBeUndefined()
  })
})

describe('a commit', () => {
  const said = {
    deployId: 'dep-1',
    commit: 'a',
    environment: 'shop',
    description: 'Words',
    logUrl: 'https://cp.example.com',
    reportId: null,
  }

  test('has the state of its newest deploy, and keeps it when that is no longer live', () => {
    const statesAfter = (before: CommitReport['before'], isNewest = true) =>
      (['queued', 'in_progress', 'success', 'failure', 'canceled', 'inactive'] as const).map(
        (state) => commitStatusOf({ ...said, before, state, isNewest })?.state,
      )
    expect(statesAfter('success')).toEqual(['pending', 'pending', 'success', 'failure', 'error', undefined])
    expect(statesAfter('in_progress', false).every((state) => state === undefined)).toBe(true)
    // Nobody was told that it was live, and now it is not any more.
    expect(statesAfter('in_progress').at(-1)).toBe('success')
  })

  test('is spoken of in words that hosts have room for', () => {
    for (const status of deployStatuses) expect(progress[status].description.length, status).toBeLessThanOrEqual(140)
  })
})

test('a service is known by a name that no other server has for one of its own', () => {
  const known = (domain: string, id = 'srv-0b1c2d3e4f5g6h7i8j9k') => environmentOf({ id, slug: 'web' }, domain)
  expect(known('apps.example.com')).toBe('web.apps.example.com')
  expect(known('notlocal')).toBe('web.notlocal')
  const common = ['localhost', 'cp.localhost', 'box.local', 'home.arpa', 'corp.internal']
  expect(common.map((domain) => known(domain))).toEqual(common.map((domain) => `web.${domain}-7i8j9k`))
  expect(known('localhost', 'srv-0b1c2d3e4f5g6h7i8j9m')).not.toBe(known('localhost'))
})
