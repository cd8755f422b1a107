import { describe, expect, test } from 'vitest'
import { detailsOf } from '../../cli/audit/details.ts'
import type { AuditEntry } from '../../shared/audit.ts'

const entry = (metadata: Record<string, unknown>, rest: Partial<AuditEntry> = {}): AuditEntry => ({
  id: 'aud-1',
  sequence: 1,
  timestamp: '2026-02-01T12:00:00.000Z',
  event: 'event',
  status: 'success',
  actor: { type: 'system' },
  metadata,
  previousHash: '',
  hash: '',
  signature: '',
  ...rest,
})

describe('the details of an entry', () => {
  test('are what changed, with before and after', () => {
    const changes = { role: { before: 'developer', after: 'viewer' }, scope: { before: null, after: { serviceIds: ['srv-1', 'srv-2'] } } }
    const request = { memberId: 'usr-1', role: 'viewer' }
    expect(detailsOf(entry({ operation: 'updateTeamMember', request, changes }))).toBe(
      'role: developer → viewer, scope: unset → srv-1,srv-2',
    )
    expect(detailsOf(entry({ operation: 'updateWorkspace', request: { name: 'Same' }, changes: {} }))).toBe('nothing changed')
  })

  test('are what was asked for, without what is hidden, the target, and what is told twice', () => {
    const request = { keyId: 'key-1', email: 'ada@example.com', password: '[hidden]', role: 'VIEWER' }
    expect(detailsOf(entry({ operation: 'any', request, role: 'viewer', scope: null, revokedKeys: [] }, { target: 'key-1' }))).toBe(
      'email=ada@example.com role=viewer',
    )
  })

  test('name what is gone', () => {
    expect(detailsOf(entry({ operation: 'deleteRole', request: { roleId: 'rol-1' }, removed: { id: 'rol-1', name: 'deployer' } }))).toBe(
      'name=deployer',
    )
    expect(detailsOf(entry({ operation: 'removeTeamMember', removed: { email: 'ada@example.com', role: 'viewer', scope: null } }))).toBe(
      'email=ada@example.com role=viewer',
    )
  })

  test('say what was refused and why, and how often more', () => {
    const refused = { status: 'error' as const }
    expect(detailsOf(entry({ operation: 'createRole', path: '/v1/roles', reason: 'forbidden', message: 'Not you.' }, refused))).toBe(
      'createRole: Not you.',
    )
    expect(detailsOf(entry({ reason: 'forbidden', repeats: 7, operations: ['createRole', 'me'] }, refused))).toBe(
      'createRole, me: forbidden (and 7 more)',
    )
    expect(detailsOf(entry({ attempts: 900, maxEntriesPerHour: 100 }, refused))).toBe('attempts=900 maxEntriesPerHour=100')
  })

  test('are never missing for an entry that somebody made up', () => {
    expect(detailsOf(entry({ request: 'text', changes: null, removed: 3 }))).toBe('nothing changed')
    expect(detailsOf(entry({}))).toBe('')
  })
})
