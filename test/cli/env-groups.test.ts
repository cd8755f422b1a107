import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { together } from '../../cli/env-groups/touched.ts'
import type { EnvGroup, TouchedService } from '../../shared/env-group.ts'
import { exampleDeploy, exampleService, pageOf, serviceId, workspaceId } from './examples.ts'
import { type Answers, type FakeServer, startFakeServer } from './fake-server.ts'
import { cpctl, type TerminalOptions, temporaryFolder } from './terminal.ts'

let server: FakeServer
let folder: Awaited<ReturnType<typeof temporaryFolder>>
beforeEach(async () => {
  folder = await temporaryFolder()
})
afterEach(async () => {
  expect(server.breaches).toEqual([])
  await server.stop()
  await folder.remove()
})

const groupId = 'evg-0b1c2d3e4f5g6h7i8j9k'
const deployId = 'dep-0b1c2d3e4f5g6h7i8j9k'
const group = (fields: Partial<EnvGroup> = {}): EnvGroup => ({
  id: groupId,
  name: 'database',
  ownerId: workspaceId,
  createdAt: '2026-02-01T11:00:00.000Z',
  updatedAt: '2026-02-01T11:00:00.000Z',
  serviceLinks: [{ id: serviceId, name: 'web', type: 'web' }],
  envVars: [
    { key: 'HOST', value: 'db.example' },
    { key: 'URL', value: 'pg://${HOST}', interpolate: true },
  ],
  secretFiles: [{ name: 'ca.pem', content: 'PEM' }],
  ...fields,
})
const touched = (fields: Partial<TouchedService> = {}): TouchedService => ({
  ...{ id: serviceId, name: 'web', envVars: ['HOST'], secretFiles: [] },
  ...fields,
})

/** A server with one group and one service; changes touch that one, and deploy it where they are asked to. */
function serving(answers: Answers = {}) {
  const changed: Answers[keyof Answers] = ({ query }) => {
    const isDeployed = String(query.deploy) === 'true'
    return group({ touched: [touched(isDeployed ? { deployId } : {})] })
  }
  server = startFakeServer({
    listServices: () => pageOf('service', [exampleService()]),
    getService: () => exampleService(),
    listEnvGroups: ({ query }) =>
      pageOf(
        'envGroup',
        [group()].filter(({ name }) => query.name === undefined || String(query.name) === name),
      ),
    getEnvGroup: () => group(),
    createEnvGroup: changed,
    setGroupEnvVar: changed,
    deleteGroupEnvVar: changed,
    replaceGroupEnvVars: changed,
    setGroupSecretFile: changed,
    deleteGroupSecretFile: changed,
    linkEnvGroup: changed,
    unlinkEnvGroup: changed,
    deleteEnvGroup: changed,
    getDeploy: () => exampleDeploy(),
    ...answers,
  })
  return (argv: string[], options: TerminalOptions = {}) =>
    cpctl(['env-groups', ...argv], { cwd: folder.path, ...options, env: { CPCTL_URL: server.url, CPCTL_TOKEN: 'cpk_test' } })
}

const received = (id: string) => server.received.filter((one) => one.id === id)
const next = 'It takes effect with their next deploys: --deploy makes them.\n'

describe('groups', () => {
  test('are listed and shown without values unless those are asked for, in JSON as well', async () => {
    const run = serving()
    expect((await run(['list'])).stdout).toBe(
      `NAME      VARIABLES  FILES  SERVICES  ID\ndatabase          2      1  web       ${groupId}\n`,
    )
    const shown = await run(['show', 'database'])
    expect(shown.stdout).toContain('URL   ••••••••  yes')
    for (const hidden of [shown, await run(['show', 'database', '--json']), await run(['list', '--json'])])
      expect(hidden.stdout).not.toContain('db.example')
    expect((await run(['show', 'database', '--show'])).stdout).toContain('HOST  db.example')
    expect(await run(['show', 'databse'])).toMatchObject({
      exitCode: 1,
      stderr: 'Error: There is no env group databse.\nDid you mean database? cpctl env-groups list shows all.\n',
    })
  })

  test('are made with variables and services, and say what that touches', async () => {
    const run = serving()
    const made = await run(['create', 'database', 'HOST=db', 'URL=pg://${HOST}', '--interpolate', '--service', 'web'])
    expect(made).toMatchObject({ exitCode: 0, stderr: next })
    expect(made.stdout).toBe(`Created database (${groupId}).\nSERVICE  GETS OTHERWISE  REMARK\nweb      HOST\n`)
    expect(received('createEnvGroup')[0]?.body).toEqual({
      name: 'database',
      envVars: [
        { key: 'HOST', value: 'db', interpolate: true },
        { key: 'URL', value: 'pg://${HOST}', interpolate: true },
      ],
      serviceIds: [serviceId],
    })
  })

  test('are renamed, and deleted when their name is typed', async () => {
    const run = serving({ updateEnvGroup: () => group({ name: 'db' }) })
    expect((await run(['rename', 'database', 'db'])).stdout).toBe('database is named db now.\n')
    expect((await run(['delete', 'database'], { typed: ['other'] })).exitCode).toBe(2)
    expect((await run(['delete', 'database', '--force'], { typed: ['database'] })).stdout).toContain('Deleted database.')
    expect(received('deleteEnvGroup')[0]?.query).toEqual({ deploy: false, force: true })
  })

  test('are linked to several services and taken from them', async () => {
    const run = serving()
    expect((await run(['link', 'database', 'web', serviceId, '--deploy'])).stdout).toContain('web is live after 10.0 s')
    expect(received('linkEnvGroup').map(({ query }) => query)).toEqual([{ deploy: true }, { deploy: true }])
    expect((await run(['unlink', 'database', 'web'])).stdout).toContain('web has the variables of database no more.')
  })
})

describe('variables', () => {
  test('are deployed with the last of them, and all are told', async () => {
    const run = serving()
    const set = await run(['set', 'database', 'HOST=a', 'OTHER=b', '--deploy'])
    expect(set).toMatchObject({ exitCode: 0, stderr: '' })
    expect(set.stdout).toBe('Set HOST, OTHER of database.\nSERVICE  GETS OTHERWISE  REMARK\nweb      HOST\nweb is live after 10.0 s\n')
    expect(received('setGroupEnvVar').map(({ query }) => query)).toEqual([{}, { deploy: true }])
    expect((await run(['unset', 'database', 'HOST', 'URL'])).stderr).toBe(next)
    expect(received('deleteGroupEnvVar').map(({ query }) => query)).toEqual([{ deploy: false }, { deploy: false }])
    expect(await run(['unset', 'database', 'HOST', 'NONE'])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('has no variable NONE'),
    })
    expect(received('deleteGroupEnvVar')).toHaveLength(2)
  })

  test('are said by a database, and written as the command that does it', async () => {
    const run = serving()
    expect((await run(['set', 'database', '--from-postgres', 'shop', '--deploy'])).stdout).toContain('Set DATABASE_URL of database.')
    expect(received('setGroupEnvVar')[0]).toMatchObject({
      params: { envGroupId: groupId, key: 'DATABASE_URL' },
      body: { fromDatabase: { name: 'shop', property: 'connectionString' } },
    })
    await run(['set', 'database', 'CACHE', '--from-kv', 'cache', '--property', 'host'])
    expect(received('setGroupEnvVar')[1]).toMatchObject({
      params: { key: 'CACHE' },
      body: { fromKeyValue: { name: 'cache', property: 'host' } },
    })
    for (const words of [[], ['A=1', '--from-postgres', 'shop']])
      expect(await run(['set', 'database', ...words])).toMatchObject({ exitCode: 2 })
    const reference = { fromDatabase: { id: 'dpg-0b1c2d3e4f5g6h7i8j9k-a', name: 'shop', property: 'host' as const } }
    const told = serving({ getEnvGroup: () => group({ envVars: [{ key: 'PGHOST', value: '', ...reference }] }) })
    expect((await told(['export', 'database'])).stdout).toBe(
      '# cpctl env-groups set database PGHOST --from-postgres shop --property host\n',
    )
  })

  test('are read from a file and written as one', async () => {
    const run = serving()
    const { stdout } = await run(['export', 'database'])
    expect(stdout).toBe('HOST=db.example\nURL="pg://${HOST}"\n')
    await writeFile(join(folder.path, '.env'), stdout)
    expect(await readFile(join(folder.path, '.env'), 'utf8')).toBe(stdout)
    expect((await run(['import', 'database', '.env', '--replace'])).stdout).toContain('Imported 2 variables into database.')
    expect(received('replaceGroupEnvVars')[0]?.body).toEqual([
      { key: 'HOST', value: 'db.example' },
      { key: 'URL', value: 'pg://${HOST}' },
    ])
    const hidden = serving({ getEnvGroup: () => group({ envVars: [{ key: 'A', value: '', hidden: true }] }) })
    expect(await hidden(['export', 'database'])).toMatchObject({ exitCode: 1, stdout: '' })
  })

  test('that nobody gets otherwise are told as such', async () => {
    const run = serving({ setGroupEnvVar: () => group({ touched: [] }) })
    expect((await run(['set', 'database', 'HOST=a'])).stderr).toContain('makes no difference for any service')
    const alone = serving({ setGroupEnvVar: () => group({ touched: [], serviceLinks: [] }) })
    expect((await alone(['set', 'database', 'HOST=a'])).stderr).toContain('No service is linked to database')
  })

  test('with which a service does not become live end with its reason', async () => {
    const run = serving({ getDeploy: () => exampleDeploy({ status: 'update_failed', reason: 'It exited with 1.' }) })
    expect(await run(['set', 'database', 'HOST=a', '--deploy'])).toMatchObject({
      exitCode: 1,
      stderr: 'Error: Not all of them are live: web: It exited with 1.\nThe others have the new values.\n',
    })
  })
})

test('secret files of a group are listed, set and removed', async () => {
  const run = serving()
  await writeFile(join(folder.path, 'key.pem'), 'PEM')
  expect((await run(['files', 'list', 'database'])).stdout).toBe('NAME\nca.pem\n')
  expect((await run(['files', 'set', 'database', 'key.pem'])).stdout).toContain('Set key.pem of database.')
  expect(received('setGroupSecretFile')[0]).toMatchObject({ params: { fileName: 'key.pem' }, body: { content: 'PEM' } })
  expect((await run(['files', 'unset', 'database', 'ca.pem'])).stdout).toContain('Removed ca.pem of database.')
})

test('changes together are what each service gets otherwise by any of them, with its last deploy', () => {
  const first = group({ touched: [touched(), touched({ id: 'srv-1b1c2d3e4f5g6h7i8j9k', name: 'api' })] })
  const last = group({ touched: [touched({ envVars: ['A'], deployId })] })
  expect(together([first, last])?.touched).toEqual([
    touched({ envVars: ['A', 'HOST'], deployId }),
    touched({ id: 'srv-1b1c2d3e4f5g6h7i8j9k', name: 'api' }),
  ])
  expect(together([])).toBeUndefined()
})

test('env list --resolved tells whose value wins, what it hides, and what is not live yet', async () => {
  serving({
    listEnvVars: () =>
      pageOf('envVar', [
        { key: 'A', value: 'own', source: { type: 'service' }, hides: [{ type: 'group', id: groupId, name: 'database' }], isLive: true },
        {
          key: 'B',
          value: '',
          source: { type: 'group', id: groupId, name: 'database' },
          hides: [],
          isLive: false,
          problem: 'refers to C, which is not set',
        },
        { key: 'PORT', value: '10000', source: { type: 'platform' }, hides: [] },
      ]),
  })
  const run = (...argv: string[]) =>
    cpctl(['env', 'list', 'web', '--resolved', ...argv], { env: { CPCTL_URL: server.url, CPCTL_TOKEN: 'cpk_test' } })
  const text = (value: string) =>
    `KEY   VALUE                            FROM      HIDES     LIVE\nA     ${value.padEnd(31)}  itself    database  yes\n` +
    'B     (refers to C, which is not set)  database            not yet\nPORT  10000                            platform\n'
  expect((await run()).stdout).toBe(text('••••••••'))
  expect((await run('--show')).stdout).toBe(text('own'))
  expect((await run('--json')).stdout).not.toContain('own')
  expect(received('listEnvVars')[0]?.query).toMatchObject({ resolved: true })
})
