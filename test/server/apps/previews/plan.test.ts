import { describe, expect, test } from 'vitest'
import { commentText } from '../../../../server/apps/previews/comment.ts'
import { inheritedBy, variablesOf } from '../../../../server/apps/previews/inherit.ts'
import { expiryOf, type PreviewFacts, planPreview, refusalBeyond, statusOf } from '../../../../server/apps/previews/plan.ts'
import type { StoredPreview } from '../../../../server/apps/previews/store.ts'
import { defaultSettings } from '../../../../server/apps/services/settings.ts'
import type { StoredService } from '../../../../server/apps/services/store.ts'
import type { Preview, PreviewRule } from '../../../../shared/preview.ts'
import { defaultControls } from '../../../../shared/service-controls.ts'
import { defaultLabels } from '../../../../shared/service-labels.ts'
import { anyRequest } from '../../../support/previews.ts'

const DAY_MS = 24 * 60 * 60_000
const commit = anyRequest.headCommit
const other = 'b'.repeat(40)

const facts = (preview: Partial<StoredPreview> = {}, rule: Partial<PreviewRule> | null = {}, now = 0): PreviewFacts => ({
  preview: { ...anyRequest, isFork: false, parentId: 'srv-parent', number: 1, ...preview },
  rule: rule && { generation: 'automatic', expireAfterDays: 0, ...rule },
  now,
})
const made = { serviceId: 'srv-preview', deployedCommit: commit }

describe('a request from a branch', () => {
  test('is deployed at each of its commits, once', () => {
    expect(planPreview(facts())).toEqual({ do: 'deploy', commit })
    expect(planPreview(facts(made))).toEqual({ do: 'nothing' })
    expect(planPreview(facts({ ...made, headCommit: other }))).toEqual({ do: 'deploy', commit: other })
  })

  test('that is closed loses its preview, and is forgotten when its comment need not be known any more', () => {
    const closed = { isOpen: false }
    expect(planPreview(facts({ ...closed, ...made }))).toEqual({ do: 'remove', because: 'closed' })
    expect(planPreview(facts(closed))).toEqual({ do: 'forget' })
    const commented = { ...closed, commentMark: 'mark', updatedAt: 0 }
    expect(planPreview(facts(commented))).toEqual({ do: 'nothing' })
    expect(planPreview(facts(commented, {}, 8 * DAY_MS))).toEqual({ do: 'forget' })
  })

  test.each([
    ['whose title asks for it', facts({ ...made, title: 'Words [skip preview]' }), 'skipped'],
    ['of a service without previews', facts(made, { generation: 'off' }), 'turned_off'],
    ['of another repository than the service has now', facts(made, null), 'turned_off'],
    ['that nobody asked for', facts(made, { generation: 'manual' }), 'not_asked_for'],
    ['whose preview was deleted', facts({ ...made, dismissedCommit: commit }), 'deleted'],
    ['to which nobody pushed for long', facts(made, { expireAfterDays: 2 }, 2 * DAY_MS), 'expired'],
  ])('%s has no preview', (_, given, because) => {
    expect(planPreview(given)).toEqual({ do: 'remove', because })
  })

  test('comes back with a push after its preview was deleted', () => {
    expect(planPreview(facts({ dismissedCommit: commit }))).toEqual({ do: 'nothing' })
    expect(planPreview(facts({ dismissedCommit: other }))).toEqual({ do: 'deploy', commit })
  })

  test('is shown by hand where somebody asks, or labels it', () => {
    const manual = { generation: 'manual' } as const
    expect(planPreview(facts({}, manual))).toEqual({ do: 'nothing' })
    expect(planPreview(facts({ isAsked: true }, manual))).toEqual({ do: 'deploy', commit })
    expect(planPreview(facts({ isLabelled: true }, manual))).toEqual({ do: 'deploy', commit })
  })

  test('goes so many days after its last push', () => {
    expect(expiryOf({ pushedAt: 5 }, { generation: 'automatic', expireAfterDays: 3 })).toBe(5 + 3 * DAY_MS)
    expect(expiryOf({ pushedAt: 5 }, { generation: 'automatic', expireAfterDays: 0 })).toBeUndefined()
  })
})

describe('a request from a fork', () => {
  test('is deployed at the commit that was approved, and at no later one', () => {
    expect(planPreview(facts({ isFork: true }))).toEqual({ do: 'nothing' })
    expect(planPreview(facts({ isFork: true, isLabelled: true }, { generation: 'manual' }))).toEqual({ do: 'nothing' })
    expect(planPreview(facts({ isFork: true, approvedCommit: commit }))).toEqual({ do: 'deploy', commit })
    const pushed = { isFork: true, approvedCommit: commit, headCommit: other, ...made }
    expect(planPreview(facts(pushed))).toEqual({ do: 'nothing' })
    expect(statusOf(facts(pushed), 'live')).toBe('awaiting_approval')
  })
})

describe('how a request stands', () => {
  test('follows the newest deploy of its preview', () => {
    expect(statusOf(facts(made), 'build_in_progress')).toBe('deploying')
    expect(statusOf(facts(made), 'live')).toBe('live')
    expect(statusOf(facts(made), 'build_failed')).toBe('failed')
    expect(statusOf(facts(), undefined)).toBe('waiting')
    expect(statusOf(facts({ ...made, problem: 'No room.' }), 'live')).toBe('waiting')
  })
})

test('there are so many previews of a service, and of a workspace', () => {
  expect(refusalBeyond({ ofService: 19, ofWorkspace: 49 })).toBeUndefined()
  expect(refusalBeyond({ ofService: 20, ofWorkspace: 20 })).toContain('The service has 20 previews')
  expect(refusalBeyond({ ofService: 0, ofWorkspace: 50 })).toContain('The workspace has 50 previews')
})

describe('what a preview has of its parent', () => {
  const parent = {
    environmentId: 'evm-production',
    settings: { ...defaultSettings, plan: 'pro', buildPlan: 'performance', allowUserNamespaces: true },
    controls: defaultControls,
    labels: { ...defaultLabels, repo: 'https://git.example.com/ada/shop', branch: 'main', autoDeployTrigger: 'commit' },
  } as unknown as StoredService

  test('is its place and settings, on the free plan and without deploys of its own', () => {
    expect(inheritedBy(parent, facts().preview, commit)).toMatchObject({
      environmentId: 'evm-production',
      numInstances: 1,
      settings: { plan: 'free', buildPlan: 'performance', allowUserNamespaces: true },
      labels: { branch: 'hats', autoDeployTrigger: 'off', previews: { generation: 'off' } },
      foreignCommit: null,
    })
  })

  test('is of a fork neither its place nor what it may do beyond others', () => {
    const inherited = inheritedBy(parent, facts({ isFork: true }).preview, commit)
    expect(inherited).toMatchObject({ environmentId: null, settings: { plan: 'free', buildPlan: 'starter' }, foreignCommit: commit })
    expect(inherited.labels.submodules).toBe(false)
    expect(inherited.settings).not.toHaveProperty('allowUserNamespaces')
  })

  const own = [
    { key: 'MODE', value: 'production' },
    { key: 'SECRET', value: 'live' },
  ]
  const values = [{ key: 'MODE', value: 'preview' }]

  test('are its variables, with what they are in previews; of a fork, only the latter', () => {
    expect(variablesOf(own, values, false)).toEqual([own[1], ...values])
    expect(variablesOf(own, values, true)).toEqual(values)
  })
})

describe('the comment', () => {
  const preview = {
    status: 'live',
    commitId: commit,
    service: { id: 'srv-1', name: 'shop-pr-1', url: 'https://shop-pr-1.example.com' },
  } as Preview

  test('links the preview and says its state, and takes no name for markup', () => {
    const text = commentText('shop](https://evil)', preview, false)
    expect(text).toContain('The preview is live.\n\nhttps://shop-pr-1.example.com')
    expect(text).not.toContain('](')
  })

  test('is not begun where nobody asked for a preview, but says how it ended', () => {
    const closed = { ...preview, status: 'closed' } as Preview
    expect(commentText('shop', closed, false)).toBe('')
    expect(commentText('shop', closed, true)).toContain('its preview is gone')
  })
})
