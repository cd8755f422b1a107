import { describe, expect, test } from 'vitest'
import { timeAhead } from '../../cli/options/time-ahead.ts'
import type { ApiKeyDetails } from '../../shared/api-key.ts'
import { AppError, invalidValue } from '../../shared/error.ts'
import { exampleService, keyId, pageOf, serviceId } from './examples.ts'
import type { Answers } from './fake-server.ts'
import { blog, blogStaging, servingPlaces, staging } from './places.ts'
import { serverPerTest } from './server-per-test.ts'
import { testTime } from './terminal.ts'

const key = { id: keyId, name: 'ci', role: 'developer', created_at: '2026-02-01T11:00:00.000Z' }
const details = (fields: Partial<ApiKeyDetails> = {}): ApiKeyDetails => ({
  ...key,
  scope: null,
  expires_at: null,
  last_used_at: null,
  created_by: 'usr-0b1c2d3e4f5g6h7i8j9k',
  ...fields,
})

const servers = serverPerTest()
const on = (answers: Answers = {}) =>
  servers.on({
    listApiKeys: () => [key],
    listServices: () => pageOf('service', [exampleService()]),
    createApiKey: () => ({ ...key, secret: 'cpk_new' }),
    ...answers,
  })

describe('keys', () => {
  test('are shown with what they may touch, their end and their last use', async () => {
    const run = on({
      getApiKey: () =>
        details({ scope: { serviceIds: [serviceId] }, expires_at: '2026-01-01T00:00:00.000Z', last_used_at: '2025-12-31T00:00:00.000Z' }),
    })
    expect((await run('keys', 'show', 'ci')).stdout).toBe(
      [
        'Name:      ci',
        `Id:        ${keyId}`,
        'Role:      developer',
        'May touch: web',
        'Created:   2026-02-01T11:00:00.000Z by usr-0b1c2d3e4f5g6h7i8j9k',
        'Expires:   2026-01-01T00:00:00.000Z (over)',
        'Last used: 2025-12-31T00:00:00.000Z',
        '',
      ].join('\n'),
    )
  })

  test('that are confined to nothing, or never end, say so', async () => {
    expect((await on({ getApiKey: () => details() })('keys', 'show', keyId)).stdout).toMatch(
      /May touch: everything\n[\s\S]*Expires: +never\nLast used: never\n$/,
    )
    await servers.stop()
    const run = on({ getApiKey: () => details({ scope: { serviceIds: [] } }) })
    expect((await run('keys', 'show', 'ci')).stdout).toContain('nothing (what it named was deleted)')
    expect(JSON.parse((await run('keys', 'show', 'ci', '--json')).stdout)).toEqual(details({ scope: { serviceIds: [] } }))
  })

  test('are listed with what they may touch, their end and their last use, without those that were revoked meanwhile', async () => {
    const gone = 'key-9b1c2d3e4f5g6h7i8j9k'
    const run = on({
      listApiKeys: () => [key, { ...key, id: gone }],
      getApiKey: ({ params }) => {
        if (params.keyId === gone) throw new AppError('not_found', 'There is no such key.')
        return details({
          scope: { serviceIds: [serviceId] },
          expires_at: '2026-01-01T00:00:00.000Z',
          last_used_at: '2026-02-01T11:55:00.000Z',
        })
      },
    })
    expect((await run('keys', 'list')).stdout).toBe(
      [
        'NAME  ROLE       SCOPE  EXPIRES                          LAST USED  ID',
        `ci    developer  web    2026-01-01T00:00:00.000Z (over)  5m ago     ${keyId}`,
        '',
      ].join('\n'),
    )
    expect(JSON.parse((await run('keys', 'list', '--json')).stdout)).toEqual([key, { ...key, id: gone }])
  })

  test('are made for some services and some time', async () => {
    const run = on()
    const { stdout, stderr } = await run('keys', 'create', 'ci', '--service', 'web', '--service', 'web', '--expires', '90d')
    expect(stdout).toBe('cpk_new\n')
    expect(stderr).toBe(
      `Created ci (${keyId}, role developer, only for web, until 2026-05-02T12:00:00.000Z). Keep the key: it is not shown again.\n`,
    )
    expect(servers.received().at(-1)?.body).toEqual({
      name: 'ci',
      scope: { serviceIds: [serviceId] },
      expires_at: '2026-05-02T12:00:00.000Z',
    })
  })

  test('are made for environments and projects, those to come included', async () => {
    const run = on(servingPlaces())
    const { stderr } = await run(
      'keys',
      'create',
      'ci',
      '--environment',
      'shop/staging,blog/staging',
      '--project',
      'blog',
      '--service',
      'web',
    )
    expect(stderr).toContain('only for web, environment shop/staging, environment blog/staging, project blog)')
    expect(servers.received().at(-1)?.body).toEqual({
      name: 'ci',
      scope: { serviceIds: [serviceId], environmentIds: [staging.id, blogStaging.id], projectIds: [blog.id] },
    })
    expect(await run('keys', 'create', 'ci', '--environment', 'staging')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('shop/staging, blog/staging'),
    })
  })

  test('for a role that there is not are answered with the nearest', async () => {
    const at = '2026-02-01T11:00:00.000Z'
    const role = { id: 'rol-0b1c2d3e4f5g6h7i8j9k', description: '', permissions: [], builtIn: true, createdAt: at, updatedAt: at }
    const run = on({
      listRoles: () => pageOf('role', [{ ...role, name: 'developer' }]),
      createApiKey: () => {
        throw invalidValue('/role', 'There is no role "developr".')
      },
    })
    expect(await run('keys', 'create', 'ci', '--role', 'developr')).toMatchObject({
      exitCode: 1,
      stderr: 'Error: There is no role developr.\nDid you mean developer? cpctl roles list shows them all.\n',
    })
  })

  test('are not made for a service that there is not, nor for a time that is none or past', async () => {
    const run = on({ listServices: () => [] })
    expect(await run('keys', 'create', 'ci', '--service', 'wbe')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('no service wbe'),
    })
    for (const [when, words] of [
      ['soon', 'is no time'],
      ['2026-02-01T11:00:00Z', 'is past'],
      ['2025-01-01', 'is past'],
      ['0d', 'is past'],
    ] as const)
      expect(await run('keys', 'create', 'ci', '--expires', when)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(words) })
    expect(servers.received().some(({ id }) => id === 'createApiKey')).toBe(false)
  })
})

test('a day ends with its last moment, a time is taken as it stands', () => {
  const at = (text: string) => timeAhead(text, { option: '--expires', now: testTime })
  expect(at('2026-02-01')).toBe('2026-02-01T23:59:59.999Z')
  expect(at('2026-02-02T10:00:00+02:00')).toBe('2026-02-02T08:00:00.000Z')
  expect(at('1h30m')).toBe('2026-02-01T13:30:00.000Z')
  for (const text of ['', '2026-02-31T00:00:00Z', '2026', '31.01.2030', '-5d']) expect(() => at(text)).toThrow('no time')
})
