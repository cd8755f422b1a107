import { RedisClient } from 'bun'
import { OWNER_KIND } from '../../server/apps/datastores/store.ts'
import { workloadsOf } from '../../server/runtime/workloads/store.ts'
import type { KeyValue, KeyValueConnectionInfo } from '../../shared/key-value.ts'
import { call } from './client.ts'
import type { Platform } from './platform.ts'
import { until } from './until.ts'

/** A key-value store that really runs. */
export interface TestStore {
  id: string
  get(): Promise<KeyValue>
  request<T = unknown>(method: string, below?: string, json?: unknown): Promise<{ status: number; body: T }>
  isAvailable(): Promise<KeyValue>
  password(): Promise<string>
  /** Where its server listens now, past every way in. */
  address(): { host: string; port: number }
  /** A connection to its server that ends with the test's own `using`. */
  connect(login?: { user?: string; password?: string }): Promise<TestClient>
}

export interface TestClient {
  send(...words: string[]): Promise<unknown>
  [Symbol.dispose](): void
}

export async function makeStore(platform: Platform, json: Record<string, unknown>): Promise<TestStore> {
  const { status, body } = await call<KeyValue>(`${platform.url}/v1/key-value`, { json, token: platform.adminToken })
  if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`)
  return storeOf(platform, body.id)
}

export function storeOf(platform: Platform, id: string): TestStore {
  const request: TestStore['request'] = (method, below = '', json) =>
    call(`${platform.url}/v1/key-value/${id}${below}`, { method, token: platform.adminToken, ...(json !== undefined && { json }) })
  const store: TestStore = {
    id,
    request: request as TestStore['request'],
    get: async () => (await request<KeyValue>('GET')).body,
    isAvailable: () =>
      until(`${id} is available`, async () => {
        const found = await store.get()
        return found.status === 'available' && found
      }),
    async password() {
      const { body } = await request<KeyValueConnectionInfo>('GET', '/connection-info')
      return new URL(body.internalConnectionString).password
    },
    address() {
      const running = workloadsOf(platform.db, OWNER_KIND, id).find(({ phase }) => phase === 'running')
      return { host: running?.address ?? '', port: running?.port ?? 0 }
    },
    async connect({ user = id, password } = {}) {
      const { host, port } = store.address()
      return await connectTo(`redis://${user}:${password ?? (await store.password())}@${host}:${port}`)
    },
  }
  return store
}

export async function connectTo(url: string): Promise<TestClient> {
  const client = new RedisClient(url, { autoReconnect: false, connectionTimeout: 3000 })
  await client.connect()
  return { send: (name = '', ...given) => client.send(name, given), [Symbol.dispose]: () => client.close() }
}
