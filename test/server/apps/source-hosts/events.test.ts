import { describe, expect, test } from 'vitest'
import { about, eventOf } from '../../../../server/apps/source-hosts/deliveries/event.ts'
import { isSigned } from '../../../../server/apps/source-hosts/deliveries/signature.ts'
import { nextHookAt, planHooks } from '../../../../server/apps/source-hosts/hooks/plan.ts'
import { pauseAfter } from '../../../../server/apps/source-hosts/pauses.ts'
import { stateOfChecks } from '../../../../server/apps/source-hosts/providers/check-states.ts'
import { pathOf } from '../../../../server/apps/source-hosts/providers/repository-path.ts'
import type { StoredHook } from '../../../../server/apps/source-hosts/store/hooks.ts'
import { signatureOf } from '../../../support/source-hosts.ts'

const commit = 'a'.repeat(40)
const none = { kind: 'none' }
const repository = {
  full_name: 'acme/shop',
  clone_url: 'https://git.example.com/acme/shop.git',
  html_url: 'https://git.example.com/acme/shop',
  ssh_url: 'git@git.example.com:acme/shop.git',
}
const urls = [repository.clone_url, repository.html_url, repository.ssh_url]
const one = (id: string, ...added: string[]) => ({ id, message: 'Change', added, removed: [], modified: null })
const push = (fields: object = {}) => ({
  ref: 'refs/heads/main',
  after: commit,
  repository,
  commits: [one('1', 'a.ts'), one('2', 'a.ts', 'b.ts')],
  head_commit: { message: 'Change' },
  ...fields,
})

describe('a push', () => {
  test('tells its branch, commit, message and the paths that changed', () => {
    expect(eventOf('push', push())).toEqual({
      kind: 'push',
      push: { urls, branch: 'main', isDefaultBranch: false, commit, message: 'Change', changedPaths: ['a.ts', 'b.ts'], isDeleted: false },
    })
  })

  test('is of the default branch where the repository says so', () => {
    const isDefault = (default_branch: string) => eventOf('push', push({ repository: { ...repository, default_branch } }))
    expect(isDefault('main')).toMatchObject({ push: { isDefaultBranch: true } })
    expect(isDefault('next')).toMatchObject({ push: { isDefaultBranch: false } })
  })

  test('of a webhook of one repository is of no other, whatever it says', () => {
    const known = ['https://git.example.com/acme/blog']
    expect(about(eventOf('push', push()), known)).toMatchObject({ push: { urls: known } })
    expect(about(eventOf('status', { repository, sha: commit }), known)).toMatchObject({ urls: known })
    expect(about(eventOf('push', push()), undefined)).toMatchObject({ push: { urls } })
  })

  test('of a branch with slashes keeps them, and one of a tag is none of a branch', () => {
    expect(eventOf('push', push({ ref: 'refs/heads/feature/x' }))).toMatchObject({ push: { branch: 'feature/x' } })
    expect(eventOf('push', push({ ref: 'refs/tags/v1' }))).toEqual(none)
  })

  test.each([
    ['with more commits than are told', { total_commits: 30 }],
    ['that told of as many as there can be', { commits: Array.from({ length: 20 }, (_, at) => one(String(at), 'a.ts')) }],
    ['without any, as when a branch is made or forced', { commits: [] }],
    ['with none told', { commits: null }],
  ])('%s leaves its paths unknown', (_, fields) => {
    expect(eventOf('push', push(fields))).toMatchObject({ push: { changedPaths: undefined } })
  })

  test('that removes a branch says so, in the words of each host', () => {
    expect(eventOf('push', push({ after: '0'.repeat(40), commits: [] }))).toMatchObject({ push: { isDeleted: true } })
    expect(eventOf('push', push({ deleted: true }))).toMatchObject({ push: { isDeleted: true } })
    expect(eventOf('delete', { ref: 'main', ref_type: 'branch', repository })).toMatchObject({ push: { branch: 'main', isDeleted: true } })
    expect(eventOf('delete', { ref: 'v1', ref_type: 'tag', repository })).toEqual(none)
  })
})

test('checks tell their commit, in the words of each host', () => {
  const checked = { kind: 'checks', urls, commit }
  expect(eventOf('status', { repository, sha: commit })).toEqual(checked)
  expect(eventOf('status', { repository, commit: { id: commit } })).toEqual(checked)
  for (const name of ['check_suite', 'check_run', 'workflow_run'])
    expect(eventOf(name, { repository, [name]: { head_sha: commit } })).toEqual(checked)
  expect(eventOf('status', { repository })).toEqual(none)
})

test('a repository that was renamed or deleted is told by its name, other actions are nothing', () => {
  expect(eventOf('repository', { action: 'renamed', repository })).toEqual({
    kind: 'repository',
    action: 'renamed',
    urls,
    name: 'acme/shop',
  })
  expect(eventOf('repository', { action: 'starred', repository })).toEqual(none)
})

test.each([
  ['push', null],
  ['push', []],
  ['push', { ref: 1 }],
  ['push', push({ repository: {} })],
  ['installation', { action: 'deleted' }],
  ['constructor', {}],
  ['', push()],
])('a payload of %s that is none is nothing', (name, payload) => {
  expect(eventOf(name, payload)).toEqual(none)
})

test('a signature is of the very bytes, by the very secret, in hex', () => {
  const body = Buffer.from('{"a":1}')
  const signature = signatureOf('{"a":1}', 's')
  expect(isSigned(body, signature, 's')).toBe(true)
  expect([isSigned(Buffer.from('{"a":1} '), signature, 's'), isSigned(body, signature, 't')]).toEqual([false, false])
  expect([isSigned(body, signature.toUpperCase(), 's'), isSigned(body, '', 's'), isSigned(body, signatureOf('{"a":1}', ''), '')]).toEqual([
    false,
    false,
    false,
  ])
})

describe('checks come to', () => {
  test.each([
    ['pending', []],
    ['pending', [['cpd/shop', 'failure']]],
    [
      'pending',
      [
        ['ci', 'success'],
        ['lint', 'pending'],
      ],
    ],
    ['pending', [['ci', 'a state that is new']]],
    [
      'passed',
      [
        ['ci', 'success'],
        ['docs', 'skipped'],
        ['cpd/shop', 'failure'],
      ],
    ],
    [
      'failed',
      [
        ['ci', 'success'],
        ['lint', 'failure'],
      ],
    ],
    [
      'failed',
      [
        ['ci', 'cancelled'],
        ['lint', 'pending'],
      ],
    ],
  ] as const)('%s of %j', (state, checks) => {
    expect(stateOfChecks(checks.map(([context, one]) => ({ context, state: one }))).state).toBe(state)
  })
})

test('a repository stands in a path of the API only as owner/name', () => {
  expect(pathOf('acme/shop.js')).toBe('/repos/acme/shop.js')
  for (const hostile of ['acme', 'acme/', '/shop', '../user', 'acme/..', 'a/b/c', 'acme/sh op', 'acme/shop?x', 'acme/%2e%2e', 'acme/s\n'])
    expect(() => pathOf(hostile), hostile).toThrow('owner/name')
})

describe('webhooks of repositories', () => {
  const hook = (repo: string, changes: Partial<StoredHook> = {}): StoredHook => ({
    installationId: 'shi',
    repo,
    hookId: null,
    problem: null,
    attempts: 0,
    nextAttemptAt: 0,
    ...changes,
  })

  test('are made where one is missing, removed where none is wanted, and else left alone', () => {
    const hooks = [hook('new'), hook('old', { hookId: '1' }), hook('good', { hookId: '2' }), hook('later', { nextAttemptAt: 11 })]
    const facts = { wanted: new Set(['new', 'good', 'later']), hooks }
    expect(planHooks({ ...facts, now: 10 }).map((step) => [step.do, step.hook.repo])).toEqual([
      ['ensure', 'new'],
      ['remove', 'old'],
    ])
    expect(nextHookAt({ ...facts, hooks: hooks.slice(2) })).toBe(11)
    expect(nextHookAt({ ...facts, hooks: hooks.slice(2, 3) })).toBeUndefined()
  })

  test('that a host refuses are tried ever more rarely, and for good', () => {
    expect([1, 2, 3, 20].map((attempts) => pauseAfter(attempts) / 60_000)).toEqual([1, 2, 4, 360])
  })
})

describe('a request', () => {
  const request = (fields: object = {}) => ({
    repository,
    pull_request: {
      number: 7,
      title: 'Sell hats',
      html_url: 'https://git.example.com/acme/shop/pulls/7',
      state: 'open',
      head: { ref: 'hats', sha: commit, repo: { id: 2, full_name: 'eve/shop' } },
      base: { ref: 'main', sha: 'b'.repeat(40), repo: { id: 1, full_name: 'acme/shop', default_branch: 'main' } },
      labels: [{ name: 'preview' }],
      ...fields,
    },
  })

  test('tells its newest commit, whether that is of a fork, and its labels', () => {
    expect(eventOf('pull_request', request())).toEqual({
      kind: 'request',
      urls,
      request: {
        ...{ number: 7, title: 'Sell hats', url: 'https://git.example.com/acme/shop/pulls/7' },
        ...{ isOpen: true, isFork: true, branch: 'hats', repository: 'eve/shop', commit },
        ...{ into: { branch: 'main', isDefault: true }, labels: ['preview'] },
      },
    })
    expect(eventOf('pull_request', request({ state: 'closed', labels: null }))).toMatchObject({ request: { isOpen: false, labels: [] } })
  })

  test('is one of a fork where the repository that it came from is gone', () => {
    const of = (repo: object | null | undefined) => eventOf('pull_request', request({ head: { ref: 'hats', sha: commit, repo } }))
    for (const repo of [null, undefined]) expect(of(repo)).toMatchObject({ request: { isFork: true, repository: '' } })
    expect(of({ id: 1, full_name: 'acme/shop' })).toMatchObject({ request: { isFork: false, repository: 'acme/shop' } })
  })

  test('of a form that is not known means nothing', () => {
    expect(eventOf('pull_request', request({ head: { ref: 'hats', sha: commit, repo: 'eve/shop' } }))).toEqual(none)
    expect(eventOf('pull_request', { repository })).toEqual(none)
  })
})
