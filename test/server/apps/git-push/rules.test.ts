import { describe, expect, test } from 'vitest'
import { NO_OBJECT, type RefUpdate } from '../../../../server/apps/git-push/protocol/commands.ts'
import { deployBranchOf, isPushable, planRefs, refusalsOf, remarksOn } from '../../../../server/apps/git-push/refs/rules.ts'
import { heldIn } from '../../../../server/apps/git-push/repository/tend.ts'

const [first, second] = ['1'.repeat(40), '2'.repeat(40)]
const update = (ref: string, from = NO_OBJECT, to = first): RefUpdate => ({ ref, from, to })

describe('the branch that deploys', () => {
  const pushed = [update('refs/heads/feature'), update('refs/heads/master'), update('refs/heads/main')]

  test('is the one that the service names, else the one of before, else main or master as they come', () => {
    expect(deployBranchOf({ configured: 'live', kept: 'main', updates: pushed })).toBe('live')
    expect(deployBranchOf({ configured: null, kept: 'master', updates: pushed })).toBe('master')
    expect(deployBranchOf({ configured: null, kept: null, updates: pushed })).toBe('main')
    expect(deployBranchOf({ configured: null, kept: null, updates: pushed.slice(0, 2) })).toBe('master')
  })

  test('is not chosen by another branch, a tag of its name, or a deletion', () => {
    for (const updates of [[update('refs/heads/feature')], [update('refs/tags/main')], [update('refs/heads/main', first, NO_OBJECT)]])
      expect(deployBranchOf({ configured: null, kept: null, updates })).toBeUndefined()
  })

  test('is told of where others are pushed', () => {
    expect(remarksOn([update('refs/heads/main')], 'main')).toEqual([])
    expect(remarksOn([update('refs/heads/a'), update('refs/heads/b')], 'main')).toEqual(['Only main deploys: a, b are kept.'])
    expect(remarksOn([update('refs/heads/a')], undefined)).toEqual(['Nothing deploys before main or master is pushed: a is kept.'])
    expect(remarksOn([update('refs/heads/a', first, NO_OBJECT), update('refs/tags/v1')], 'main')).toEqual([])
  })
})

describe('a push', () => {
  const refs = new Map([['refs/heads/main', first]])
  const refusals = (...updates: RefUpdate[]) => refusalsOf(updates, { refs, branch: 'main' })

  test('may make, move and delete branches and tags', () => {
    expect(refusals(update('refs/heads/main', first, second), update('refs/heads/a/b'), update('refs/tags/v1.0')).size).toBe(0)
    expect(refusalsOf([update('refs/heads/main', first, NO_OBJECT)], { refs, branch: 'live' }).size).toBe(0)
  })

  test('is refused for what it has not seen, names twice, or takes away from what deploys', () => {
    expect(refusals(update('refs/heads/main')).get('refs/heads/main')).toContain('fetch first')
    expect(refusals(update('refs/heads/a', second, first)).get('refs/heads/a')).toContain('fetch first')
    expect(refusals(update('refs/heads/a'), update('refs/heads/a')).get('refs/heads/a')).toContain('twice')
    expect(refusals(update('refs/heads/main', first, NO_OBJECT)).get('refs/heads/main')).toContain('not deleted')
  })

  test('names branches and tags as git does, and nothing else', () => {
    for (const ref of ['refs/heads/main', 'refs/heads/a/b.c', 'refs/tags/v1', 'refs/heads/größe', 'refs/heads/a@b'])
      expect({ ref, isTaken: isPushable(ref) }).toEqual({ ref, isTaken: true })
    for (const ref of ['HEAD', 'refs/heads/', 'refs/heads/@', 'refs/remotes/a/b', 'refs/heads/a.lock/b', 'refs/heads/a.', 'refs/heads/a~1'])
      expect({ ref, isTaken: isPushable(ref) }).toEqual({ ref, isTaken: false })
  })

  test('that was interrupted does what is left of it, and nothing that somebody else has made impossible', () => {
    const moved = update('refs/heads/main', first, second)
    expect(planRefs([moved], refs)).toEqual({ due: [moved], refused: [] })
    expect(planRefs([moved], new Map([['refs/heads/main', second]]))).toEqual({ due: [], refused: [] })
    const { due, refused } = planRefs([moved], new Map([['refs/heads/main', '3'.repeat(40)]]))
    expect({ due, refused }).toMatchObject({ due: [], refused: [{ ref: 'refs/heads/main' }] })
  })
})

test('what a repository holds is read from what git counts', () => {
  const counted = 'count: 3\nsize: 12\nin-pack: 40\npacks: 2\nsize-pack: 100\nprune-packable: 0\ngarbage: 1\nsize-garbage: 4\n'
  expect(heldIn(counted)).toEqual({ bytes: 116 * 1024, packs: 2 })
  expect(heldIn('')).toEqual({ bytes: 0, packs: 0 })
})
