import { describe, expect, test } from 'vitest'
import { keptReleaseIds } from '../../../../server/apps/deploys/prune.ts'
import { differencesOf, type ReleaseFacts } from '../../../../server/apps/deploys/rollback-plan.ts'
import { defaultSettings } from '../../../../server/apps/services/settings.ts'

describe('kept releases', () => {
  const live = ['r5', 'r4', 'r5', null, 'r3', 'r2'].map((releaseId) => ({ releaseId }))
  test('are those of the newest live deploys, each counted once', () => {
    expect([...keptReleaseIds(live, 3)]).toEqual(['r5', 'r4', 'r3'])
  })
  test('are all when there are fewer', () => {
    expect([...keptReleaseIds(live, 10)]).toEqual(['r5', 'r4', 'r3', 'r2'])
    expect([...keptReleaseIds([], 10)]).toEqual([])
  })
})

describe('the differences of two releases', () => {
  const facts = (changes: Partial<ReleaseFacts> = {}): ReleaseFacts => ({
    deployId: 'dep-a',
    artifact: 'abc',
    settings: defaultSettings,
    secrets: { envVars: [], secretFiles: [] },
    ...changes,
  })

  test('of two that are the same are none', () => {
    expect(differencesOf(facts(), facts({ deployId: 'dep-b' }))).toEqual({
      fromDeployId: 'dep-a',
      toDeployId: 'dep-b',
      code: { changes: false, from: 'abc', to: 'abc' },
      envVars: { added: [], removed: [], changed: [] },
      secretFiles: { added: [], removed: [], changed: [] },
      settings: [],
    })
  })

  test('name variables and files that come, go and change, and never show a value', () => {
    const from = facts({
      secrets: {
        envVars: ['KEPT=1', 'CHANGED=hidden-before', 'GONE=hidden'].map(entry),
        secretFiles: [{ name: 'gone.pem', content: 'hidden' }],
      },
    })
    const to = facts({
      secrets: {
        envVars: ['KEPT=1', 'CHANGED=hidden-after', 'NEW=hidden'].map(entry),
        secretFiles: [{ name: 'new.pem', content: 'hidden' }],
      },
    })
    const plan = differencesOf(from, to)
    expect(plan.envVars).toEqual({ added: ['NEW'], removed: ['GONE'], changed: ['CHANGED'] })
    expect(plan.secretFiles).toEqual({ added: ['new.pem'], removed: ['gone.pem'], changed: [] })
    expect(JSON.stringify(plan)).not.toContain('hidden')
  })

  test('show settings with both values, lists as JSON', () => {
    const route = { type: 'rewrite' as const, source: '/*', destination: '/index.html' }
    const plan = differencesOf(
      facts(),
      facts({ settings: { ...defaultSettings, plan: 'pro', maxShutdownDelaySeconds: 60, routes: [route] } }),
    )
    expect(plan.settings).toEqual([
      { name: 'plan', from: 'starter', to: 'pro' },
      { name: 'maxShutdownDelaySeconds', from: '30', to: '60' },
      { name: 'routes', from: '[]', to: JSON.stringify([route]) },
    ])
  })
})

function entry(text: string): { key: string; value: string } {
  const [key = '', value = ''] = text.split('=')
  return { key, value }
}
