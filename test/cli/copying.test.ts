import { describe, expect, test } from 'vitest'
import { type Datastore, keyValueLike, postgresLike } from '../../cli/copying/datastores.ts'
import { linkOrder } from '../../cli/copying/link-order.ts'
import { nameOfCopy } from '../../cli/copying/names.ts'
import { type CopyInput, planCopy } from '../../cli/copying/plan.ts'
import { remaindersOf } from '../../cli/copying/remainders.ts'
import { inputOfCopy, type Original } from '../../cli/copying/service-input.ts'
import { planInLines } from '../../cli/copying/show.ts'
import type { EnvGroup } from '../../shared/env-group.ts'
import type { Service } from '../../shared/service.ts'
import { exampleDatabase, exampleService, exampleStore, serviceId, workspaceId } from './examples.ts'
import { production, staging } from './places.ts'

const original = (fields: Partial<Service> = {}, rest: Partial<Original> = {}): Original => ({
  service: exampleService({ environmentId: production.id, ...fields }),
  envVars: [],
  secretFiles: [],
  domains: [],
  groups: [],
  ...rest,
})
const api = original({ id: 'srv-1b1c2d3e4f5g6h7i8j9k', name: 'api', slug: 'api', type: 'private_service' })

const planOf = (originals: Original[], fields: Partial<CopyInput> = {}, datastores: readonly Datastore[] = []) =>
  planCopy({
    project: { name: 'shop', id: production.projectId },
    copies: [
      {
        of: { project: 'shop', environment: production },
        to: { project: 'shop', environment: 'staging' },
        existing: undefined,
        originals,
        datastores,
      },
    ],
    services: originals.map(({ service }) => service),
    datastores,
    groups: [],
    renaming: { from: 'production', to: 'staging', chosen: new Map() },
    isWithValues: false,
    ...fields,
  })

test.each([
  ['web', 'web-staging'],
  ['web-production', 'web-staging'],
  ['production_api', 'staging_api'],
  ['web-productions', 'web-productions-staging'],
  ['old', 'new'],
])('the copy of %s is named %s', (name, copy) => {
  expect(nameOfCopy(name, { from: 'production', to: 'staging', chosen: new Map([['old', 'new']]) })).toBe(copy)
})

describe('the copy of a service', () => {
  const input = (fields: Partial<Service> = {}, rest: Partial<Original> = {}) =>
    inputOfCopy(original(fields, rest), { name: 'web-staging', environmentId: staging.id, missing: [], ids: new Map() })

  test('has its settings, and not what only it has', () => {
    const serviceDetails: Service['serviceDetails'] = {
      ...exampleService().serviceDetails,
      runtime: 'python',
      env: 'python',
      region: 'frankfurt',
      healthCheckPath: '/up',
      disk: { id: 'dsk-0b1c2d3e4f5g6h7i8j9k', name: 'data', sizeGB: 5, mountPath: '/data' },
      deployStrategy: 'stop_first',
      openPorts: [{ port: 10_000, protocol: 'TCP' }],
      maintenanceMode: { enabled: true, uri: '' },
      sleep: { mode: 'stop', idleSeconds: 600 },
      asleepAt: '2026-02-01T10:00:00.000Z',
      headers: [{ path: '/*', name: 'X-A', value: 'b' }],
    }
    expect(input({ rootDir: 'apps/web', branch: 'main', serviceDetails, suspended: 'suspended' })).toEqual({
      type: 'web_service',
      name: 'web-staging',
      environmentId: staging.id,
      rootDir: 'apps/web',
      branch: 'main',
      autoDeploy: 'no',
      autoDeployTrigger: 'off',
      envVars: [],
      secretFiles: [],
      serviceDetails: {
        runtime: 'python',
        plan: 'starter',
        buildPlan: 'starter',
        region: 'frankfurt',
        numInstances: 2,
        healthCheckPath: '/up',
        envSpecificDetails: { buildCommand: 'npm ci', startCommand: 'npm start' },
        sleep: { mode: 'stop', idleSeconds: 600 },
        headers: [{ path: '/*', name: 'X-A', value: 'b' }],
        disk: { name: 'data', sizeGB: 5, mountPath: '/data' },
      },
    })
  })

  test('finds out its runtime itself where that may be one that nobody chose', () => {
    expect(input().serviceDetails).not.toHaveProperty('runtime')
  })

  test('has variables and files without what marks them as hidden', () => {
    const { envVars, secretFiles } = input(
      {},
      { envVars: [{ key: 'A', value: '', hidden: true }], secretFiles: [{ name: 'key.pem', content: '', hidden: true }] },
    )
    expect({ envVars, secretFiles }).toEqual({ envVars: [{ key: 'A', value: '' }], secretFiles: [{ name: 'key.pem', content: '' }] })
  })
})

describe('a plan', () => {
  const web = original(
    {},
    {
      envVars: [
        { key: 'API_URL', value: 'http://api:10000/v1' },
        { key: 'B', value: 'x' },
      ],
      secretFiles: [{ name: 'key.pem', content: '' }],
      domains: ['shop.example.com'],
    },
  )

  test('tells what is made, and what is left to do', () => {
    const plan = planOf([web, api])
    expect(planInLines(plan)).toEqual([
      '+ environment shop/staging, like shop/production, isolated',
      '  + web_service web-staging, like web: 2 variables, 1 secret file, 1 domain to be set',
      '  + private_service api-staging, like api',
    ])
    expect(remaindersOf(plan)).toEqual([
      'web-staging lacks the values of API_URL, B: cpctl env set web-staging API_URL=<value> …',
      'web-staging lacks the contents of key.pem: cpctl secret-files set <file> --service web-staging',
      'shop.example.com leads to web. A domain of the copy: cpctl domains add web-staging <domain>',
      'API_URL of web-staging still names api: cpctl env set web-staging API_URL=<value>',
    ])
  })

  test('protects an environment into which values are copied', () => {
    expect(planOf([web]).environments[0]?.settings).toEqual({ protectedStatus: 'unprotected', networkIsolationEnabled: true })
    const plan = planOf([web], { isWithValues: true })
    expect(plan.environments[0]?.settings.protectedStatus).toBe('protected')
    expect(plan.environments[0]?.services[0]?.missing).toEqual([])
  })

  test('leaves what is there', () => {
    const there = exampleService({ id: 'srv-2b1c2d3e4f5g6h7i8j9k', name: 'web-staging', environmentId: staging.id })
    const copies = [
      {
        of: { project: 'shop', environment: production },
        to: { project: 'shop', environment: 'staging' },
        existing: staging,
        originals: [web, api],
        datastores: [],
      },
    ]
    const plan = planOf([], { copies, services: [web.service, there] })
    expect(planInLines(plan)).toEqual([
      '= environment shop/staging is there',
      '  = web_service web-staging is there and is left as it is',
      '  + private_service api-staging, like api',
    ])
    expect(remaindersOf(plan)).toEqual([])
  })

  test('takes no name that another service has, or two copies would', () => {
    const elsewhere = exampleService({ name: 'web-staging', environmentId: production.id })
    expect(() => planOf([web], { services: [web.service, elsewhere] })).toThrow('would be named web-staging, as a service elsewhere is')
    const chosen = new Map([['api', 'web-staging']])
    expect(() => planOf([web, api], { renaming: { from: 'production', to: 'staging', chosen } })).toThrow(
      'Two copies would be named web-staging.',
    )
  })
})

const group = (fields: Partial<EnvGroup> = {}): EnvGroup => ({
  id: 'evg-0b1c2d3e4f5g6h7i8j9k',
  name: 'db',
  ownerId: workspaceId,
  createdAt: '2026-02-01T10:00:00.000Z',
  updatedAt: '2026-02-01T10:00:00.000Z',
  serviceLinks: [{ id: serviceId, name: 'web', type: 'web' }],
  envVars: [{ key: 'DATABASE_URL', value: 'postgres://db' }],
  secretFiles: [{ name: 'ca.pem', content: 'x' }],
  ...fields,
})

describe('env groups', () => {
  const own = group({ environmentId: production.id })
  const shared = group({ id: 'evg-1b1c2d3e4f5g6h7i8j9k', name: 'shared' })
  const web = original({}, { groups: [shared, own] })

  test('of the environment are copied and linked in the order of the originals, others are linked themselves', () => {
    const plan = planOf([web], { groups: [shared, own] })
    expect(planInLines(plan)).toEqual([
      '+ environment shop/staging, like shop/production, isolated',
      '  + env group db-staging, like db: 1 variable, 1 secret file',
      '  + web_service web-staging, like web',
      '    + linked to shared',
      '    + linked to db-staging',
    ])
    expect(remaindersOf(plan)).toEqual([
      'db-staging lacks the values of DATABASE_URL: cpctl env-groups set db-staging DATABASE_URL=<value> …',
      'db-staging lacks the contents of ca.pem: cpctl env-groups files set db-staging <file>',
    ])
  })

  test('of the project are copied where the project is another, used or not where all of it is', () => {
    const ofProject = group({ projectId: production.projectId })
    const unused = group({ id: 'evg-2b1c2d3e4f5g6h7i8j9k', name: 'unused', projectId: production.projectId })
    const fields = { groups: [ofProject, unused], project: { name: 'shop-eu', id: undefined } }
    const names = (plan: ReturnType<typeof planOf>) => plan.groups.map(({ name }) => name)
    expect(names(planOf([original({}, { groups: [ofProject] })], fields))).toEqual(['db-staging'])
    expect(names(planOf([], { ...fields, wholeProject: production.projectId }))).toEqual(['db-staging', 'unused-staging'])
    expect(names(planOf([original({}, { groups: [ofProject] })], { groups: [ofProject] }))).toEqual([])
  })

  test('that are there are left, with the links that are there', () => {
    const copy = exampleService({ id: 'srv-2b1c2d3e4f5g6h7i8j9k', name: 'web-staging', environmentId: staging.id })
    const serviceLinks = [{ id: copy.id, name: copy.name, type: 'web' as const }]
    const copies = [
      {
        of: { project: 'shop', environment: production },
        to: { project: 'shop', environment: 'staging' },
        existing: staging,
        originals: [web],
        datastores: [],
      },
    ]
    const there = group({ id: 'evg-3b1c2d3e4f5g6h7i8j9k', name: 'db-staging', environmentId: staging.id, serviceLinks })
    expect(planInLines(planOf([], { copies, services: [web.service, copy], groups: [own, shared, there] }))).toEqual([
      '= environment shop/staging is there',
      '  = env group db-staging is there and is left as it is',
      '  = web_service web-staging is there and is left as it is',
      '    + linked to shared',
    ])
    expect(() => planOf([web], { groups: [own, { ...there, environmentId: production.id }] })).toThrow('as a group elsewhere is')
  })

  test('are linked in an order that gives what the original has', () => {
    const [a, b, c] = [group({ id: 'evg-a' }), group({ id: 'evg-b' }), group({ id: 'evg-c' })]
    const source = (id: string) => ({ type: 'group' as const, id })
    const own = { type: 'service' as const }
    const resolved = [
      { source: source('evg-a'), hides: [source('evg-c')] },
      { source: own, hides: [source('evg-b'), source('evg-a')] },
      { source: source('evg-c') },
    ]
    expect(linkOrder([a, b, c], resolved).map(({ id }) => id)).toEqual(['evg-c', 'evg-a', 'evg-b'])
    expect(linkOrder([b, a], []).map(({ id }) => id)).toEqual(['evg-b', 'evg-a'])
  })
})

describe('databases and key-value stores', () => {
  const shop: Datastore = { kind: 'postgres', of: { ...exampleDatabase, environmentId: production.id } }
  const cache: Datastore = { kind: 'key_value', of: { ...exampleStore, environmentId: production.id } }
  const elsewhere = 'dpg-9b1c2d3e4f5g6h7i8j9k-a'
  const web = original(
    {},
    {
      envVars: [
        { key: 'DATABASE_URL', value: '', fromDatabase: { id: shop.of.id, name: 'shop', property: 'connectionString' } },
        { key: 'LEGACY', value: '', fromDatabase: { id: elsewhere, property: 'host' } },
        { key: 'REDIS', value: `redis://u:p@${cache.of.id}:6379` },
      ],
    },
  )
  const open = { ...production, networkIsolationEnabled: false }
  const copies = (environment: typeof production) => [
    {
      of: { project: 'shop', environment },
      to: { project: 'shop', environment: 'staging' },
      existing: undefined,
      originals: [web],
      datastores: [shop, cache],
    },
  ]

  test('are made empty, and what refers to them refers to the copies', () => {
    const plan = planOf([web], {}, [shop, cache])
    expect(planInLines(plan)).toEqual([
      '+ environment shop/staging, like shop/production, isolated',
      '  + database shop-staging, like shop, empty',
      '  + key-value store cache-staging, like cache, empty',
      '  + web_service web-staging, like web: 3 variables',
    ])
    expect(remaindersOf(plan)).toEqual([
      'web-staging lacks the values of LEGACY, REDIS: cpctl env set web-staging LEGACY=<value> …',
      'REDIS of web-staging still names cache: cpctl env set web-staging REDIS=<value>',
    ])
    const ids = new Map([[shop.of.id, 'dpg-1b1c2d3e4f5g6h7i8j9k-a']])
    expect(inputOfCopy(web, { name: 'web-staging', environmentId: staging.id, missing: ['LEGACY', 'REDIS'], ids }).envVars).toEqual([
      { key: 'DATABASE_URL', fromDatabase: { id: 'dpg-1b1c2d3e4f5g6h7i8j9k-a', property: 'connectionString' } },
      { key: 'LEGACY', value: '' },
      { key: 'REDIS', value: '' },
    ])
  })

  test('that are not copied are referred to still where the values are copied, and they can be reached', () => {
    const missing = (environment: typeof production) =>
      planOf([], { copies: copies(environment), isWithValues: true }).environments[0]?.services[0]?.missing
    expect(missing(open)).toEqual([])
    expect(missing(production)).toEqual(['LEGACY'])
  })

  test('are left as they are where they are there, and take no name that another has', () => {
    const copy: Datastore = { kind: 'postgres', of: { ...exampleDatabase, id: elsewhere, name: 'shop-staging', environmentId: staging.id } }
    const [first] = copies(open)
    const there = first === undefined ? [] : [{ ...first, existing: staging }]
    expect(planInLines(planOf([], { copies: there, datastores: [shop, cache, copy] }))[1]).toBe(
      '  = database shop-staging is there and is left as it is',
    )
    expect(() => planOf([], { copies: copies(open), datastores: [shop, copy] })).toThrow(
      'The copy of the database shop would be named shop-staging, as a database or key-value store elsewhere is.',
    )
  })

  test('are told by a group that is not copied, which the copy has as well', () => {
    const envVars = [{ key: 'DATABASE_URL', value: '', fromDatabase: { id: shop.of.id, property: 'connectionString' as const } }]
    const shared = group({ envVars, secretFiles: [] })
    expect(remaindersOf(planOf([original({}, { groups: [shared] })], { groups: [shared] }, [shop]))).toEqual([
      'DATABASE_URL of the env group db, which web-staging has as well, says how to reach shop',
    ])
  })

  test('have the settings of the originals', () => {
    if (shop.kind !== 'postgres' || cache.kind !== 'key_value') throw new Error('The kinds differ')
    expect(postgresLike({ ...shop.of, parameterOverrides: { work_mem: '16MB' } }, 'shop-staging', staging.id)).toMatchObject({
      ...{ name: 'shop-staging', environmentId: staging.id, plan: shop.of.plan, version: shop.of.version },
      ...{ databaseName: shop.of.databaseName, diskSizeGB: shop.of.diskSizeGB, parameterOverrides: { work_mem: '16MB' } },
    })
    expect(keyValueLike(cache.of, 'cache-staging', staging.id)).toEqual({
      ...{ name: 'cache-staging', environmentId: staging.id, plan: 'starter', ipAllowList: [] },
      ...{ maxmemoryPolicy: 'allkeys_lru', persistenceMode: 'journal_snapshot' },
    })
  })
})
