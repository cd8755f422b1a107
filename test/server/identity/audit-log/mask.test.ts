import type { TSchema } from '@sinclair/typebox'
import { describe, expect, test } from 'vitest'
import { auditEvents } from '../../../../server/api/audit/events.ts'
import { HIDDEN, hidden, masked } from '../../../../server/identity/audit-chain/mask.ts'
import { differencesOf } from '../../../../server/identity/audit-log/differences.ts'
import { type OperationId, operationOf } from '../../../../shared/operations/all.ts'

const MARK = 'a-secret-perhaps'

/** A value with the mark in every string that a schema has room for. */
function marked(schema: TSchema): unknown {
  const [variant] = (schema.anyOf ?? schema.oneOf ?? schema.allOf ?? []) as TSchema[]
  if (variant !== undefined) return ((schema.anyOf ?? schema.oneOf ?? schema.allOf) as TSchema[]).map(marked)
  if (schema.properties !== undefined)
    return Object.fromEntries(Object.entries(schema.properties as Record<string, TSchema>).map(([name, one]) => [name, marked(one)]))
  if (schema.items !== undefined) return [marked(schema.items as TSchema)]
  return schema.type === 'string' ? MARK : undefined
}

/** Names of the fields in which the mark is still to be seen. */
function shownIn(value: unknown, name: string, found: Set<string>): Set<string> {
  if (value === MARK) found.add(name)
  else if (Array.isArray(value)) for (const item of value) shownIn(item, name, found)
  else if (typeof value === 'object' && value !== null) for (const [key, held] of Object.entries(value)) shownIn(held, key, found)
  return found
}

/** Each of these was looked at: it holds no secret. A new field of a request is either hidden, or has to be added here. */
const harmless = [
  'commitId',
  'installation',
  'installationId',
  'installation_id',
  'setup_action',
  'repo',
  'region',
  'paths',
  'ignoredPaths',
  'branch',
  'autoDeployTrigger',
  'autoDeploy',
  ...['buildCommand', 'buildPlan', 'cidrBlock', 'clearCache', 'client_id', 'client_name', 'confirm', 'deploy', 'deployId'],
  ...['deployMode', 'description', 'destination', 'diskId', 'domainId', 'email', 'env', 'error', 'expires_at'],
  ...['grant_type', 'healthCheckPath', 'instance', 'instanceId', 'inviteId', 'iss', 'jobId', 'key', 'keyId'],
  ...['memberId', 'mode', 'mountPath', 'name', 'notificationsToSend', 'overlapPolicy', 'ownerId', 'path', 'permissions', 'plan'],
  ...[
    'planId',
    'preDeployCommand',
    'previewNotificationsEnabled',
    'provider',
    'publishPath',
    'role',
    'roleId',
    'rootDir',
    'runtime',
    'schedule',
  ],
  ...['scope', 'serviceId', 'serviceIds', 'sessionId', 'snapshotKey', 'source', 'sourceId', 'startCommand', 'term'],
  ...['environmentId', 'environmentIds', 'projectId', 'projectIds', 'protectedStatus', 'resourceIds'],
  ...['envGroupId', 'eventFilter', 'eventId', 'fileName', 'from', 'generation', 'imageUrl', 'ref', 'request', 'to', 'url', 'webhookId'],
  ...['keyValueId', 'maxmemoryPolicy', 'persistenceMode'],
  ...['timezone', 'type', 'uri', 'user', 'workspaceId', 'workspaceName'],
  ...[
    'backupId',
    'clean',
    'connectionPool',
    'databaseName',
    'databaseUser',
    'exportId',
    'id',
    'importId',
    'pid',
    'postgresId',
    'property',
    'restoreName',
    'restoreTime',
    'username',
    'version',
  ],
]

test('every string of every changing request is hidden or known to be harmless', () => {
  const found = new Set<string>()
  for (const id of Object.keys(auditEvents) as OperationId[]) {
    const { body, query, params } = operationOf(id)
    for (const schema of [body, query, params]) if (schema !== undefined) shownIn(masked(marked(schema), schema), '', found)
  }
  expect([...found].sort()).toEqual([...harmless].sort())
})

describe('hidden are', () => {
  test.each([
    'password',
    'newPassword',
    'otp',
    'secret',
    'client_secret',
    'token',
    'refresh_token',
    'privateKey',
    'apiKey',
    'value',
    'content',
  ])('values named %s, however deep', (name) => {
    expect(masked({ list: [{ [name]: 'x', other: 1 }] })).toEqual({ list: [{ [name]: HIDDEN, other: 1 }] })
  })

  test('values that a schema marks', () => {
    const schema = { type: 'object', properties: { plain: { type: 'string', 'x-secret': true } } } as unknown as TSchema
    expect(masked({ plain: 'x' }, schema)).toEqual({ plain: HIDDEN })
  })

  test('names and passwords in URLs', () => {
    expect(masked({ repo: 'https://ada:pa55@example.com/a.git' })).toEqual({ repo: `https://${HIDDEN}@example.com/a.git` })
  })
})

test('long texts, long lists and deep objects are cut', () => {
  const deep = { a: { a: { a: { a: { a: { a: { a: { a: { a: 1 } } } } } } } } }
  expect(JSON.stringify(masked(deep))).toContain('{…}')
  expect(masked({ text: 'x'.repeat(10_000) })).toEqual({ text: `${'x'.repeat(500)}… (10000 characters)` })
  expect(masked({ list: Array.from({ length: 300 }, () => 1) })).toEqual({
    list: [...Array.from({ length: 100 }, () => 1), '… and 200 more'],
  })
})

test('only what differs is told, and of hidden values that they do', () => {
  const before = { name: 'a', updatedAt: '1', details: { plan: 's', url: 'u' }, env: { A: hidden('1'), B: hidden('2') }, token: 'old' }
  const after = { name: 'a', updatedAt: '2', details: { plan: 'm', url: 'u' }, env: { A: hidden('1'), C: hidden('3') }, token: 'new' }
  expect(differencesOf(before, after)).toEqual({
    'details.plan': { before: 's', after: 'm' },
    'env.B': { before: HIDDEN },
    'env.C': { after: HIDDEN },
    token: { before: HIDDEN, after: HIDDEN },
  })
})
