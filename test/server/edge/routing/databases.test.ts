import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { linksOf, membersOf } from '../../../../server/apps/private-network/links.ts'
import { streamsOf } from '../../../../server/apps/private-network/streams.ts'
import { buildDatabaseRoutes, routeOf } from '../../../../server/edge/routing/databases.ts'
import { insertWorkload, updateWorkload } from '../../../../server/runtime/workloads/store.ts'
import { addDatastore } from '../../../support/datastores.ts'
import { addEnvironment } from '../../../support/environments.ts'
import { startTestServer, type TestServer } from '../../../support/server.ts'

const env = { CP_BASE_DOMAIN: 'apps.acme.com', CP_INGRESS_POSTGRES: '0.0.0.0:5432', CP_INGRESS_KEY_VALUE: '0.0.0.0:6379' }

let server: TestServer
let workspaces: string[]

beforeAll(async () => {
  server = await startTestServer({ env })
  server.db.run("INSERT INTO workspaces (id, name, email, created_at) VALUES ('tea-another', 'Another', 'a@b.c', 0)")
  workspaces = server.db
    .query<{ id: string }, []>('SELECT id FROM workspaces')
    .all()
    .map(({ id }) => id)
})
beforeEach(() => {
  server.db.run('DELETE FROM datastores')
  server.db.run('DELETE FROM workloads')
})
afterAll(() => server.close())

const [first, second] = [() => workspaces[0] ?? '', () => workspaces[1] ?? '']

function runServer(ownerId: string, port: number): string {
  const id = `${ownerId}-00000`
  insertWorkload(server.db, { id, ownerKind: 'datastore', ownerId, purpose: 'server', createdAt: 1, phase: 'running', port })
  updateWorkload(server.db, id, { address: '10.98.0.7' })
  return id
}

const routed = { kind: 'postgres', name: 'orders', suspendedBy: null, phase: 'ready', ipAllowList: [] } as const
const targets = [{ instanceId: 'i', host: '10.98.0.7', port: 5432 }]

test.each([
  [{}, targets, 'running'],
  [{}, [], 'unavailable'],
  [{ phase: 'creating' }, targets, 'unavailable'],
  [{ phase: 'recovering' }, targets, 'unavailable'],
  [{ suspendedBy: ['user'] }, targets, 'suspended'],
] as const)('%j: %s', (changes, at, state) => {
  const route = routeOf({ ...routed, ...changes, ipAllowList: [], suspendedBy: 'suspendedBy' in changes ? ['user'] : null }, 'h', [...at])
  expect([route.state, route.targets.length]).toEqual([state, state === 'running' ? 1 : 0])
})

test('each Postgres has a host of its own, and all key-value stores share one', () => {
  const database = addDatastore(server, { workspaceId: first(), name: 'orders' })
  const store = addDatastore(server, { workspaceId: first(), kind: 'key_value', name: 'cache' })
  const instanceId = runServer(database, 5432)
  expect(buildDatabaseRoutes(server.context)).toEqual({
    [database]: {
      kind: 'postgres',
      name: 'orders',
      host: `${database}.apps.acme.com`,
      state: 'running',
      targets: [{ instanceId, host: '10.98.0.7', port: 5432 }],
      allow: [],
    },
    [store]: { kind: 'key_value', name: 'cache', host: 'kv.apps.acme.com', state: 'unavailable', targets: [], allow: [] },
  })
})

test('where a kind has no port, none of it is published', () => {
  addDatastore(server, { workspaceId: first() })
  const store = addDatastore(server, { workspaceId: first(), kind: 'key_value' })
  const config = { ...server.context.config, CP_INGRESS_POSTGRES: undefined }
  expect(Object.keys(buildDatabaseRoutes({ db: server.db, config }))).toEqual([store])
})

test('siblings reach it by its id, in its own workspace or isolated environment', () => {
  const { environmentId } = addEnvironment(server, { workspaceId: first() })
  server.db.query('UPDATE environments SET is_isolated = 1 WHERE id = ?').run(environmentId)
  const open = addDatastore(server, { workspaceId: first() })
  const isolated = addDatastore(server, { workspaceId: first(), environmentId })
  const others = addDatastore(server, { workspaceId: second(), kind: 'key_value' })
  const instanceId = runServer(open, 5432)
  const links = linksOf(membersOf(server.db)).map(({ owner, network, names, instanceIds }) => [owner.id, network, names, instanceIds])
  expect(links).toEqual(
    [
      [open, first(), [open], [instanceId]],
      [isolated, environmentId, [isolated], []],
      [others, second(), [others], []],
    ].toSorted(([one], [other]) => String(one).localeCompare(String(other))),
  )
})

test('where instances share a network, the ingress listens for siblings at the usual port', () => {
  const store = addDatastore(server, { workspaceId: first(), kind: 'key_value' })
  addDatastore(server, { workspaceId: first() })
  const instanceId = runServer(store, 34_001)
  const siblingHost = () => '127.9.0.1'
  expect(streamsOf({ db: server.db, engine: { siblingHost } })).toEqual([
    { listen: { host: '127.9.0.1', port: 6379 }, targets: [{ instanceId, host: '10.98.0.7', port: 34_001 }] },
  ])
  expect(streamsOf({ db: server.db, engine: {} })).toEqual([])
})
