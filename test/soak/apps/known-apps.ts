/** What others have made, on a database or a store of ours. */
export interface KnownApp {
  name: string
  kind: 'postgres' | 'kv'
  /** What it wants the connection string to be called. */
  variable: string
  env: Record<string, string>
  /** Writes a row over HTTP. */
  write(ask: Ask, row: string): Promise<unknown>
  /** What is read back. */
  read(ask: Ask): Promise<string>
}

export type Ask = (path: string, json?: unknown, headers?: Record<string, string>) => Promise<string>

const SECRET = 'a-secret-of-the-tests-0123456789'
const admin = { email: 'ada@example.com', password: 'correct horse battery' }

export const knownApps: readonly KnownApp[] = [
  {
    name: 'django',
    kind: 'postgres',
    variable: 'DATABASE_URL',
    env: { SECRET_KEY: SECRET },
    write: (ask, name) => ask('/items', { name }),
    read: (ask) => ask('/items'),
  },
  {
    name: 'directus',
    kind: 'postgres',
    variable: 'DB_CONNECTION_STRING',
    env: {
      ...{ DB_CLIENT: 'pg', SECRET, KEY: SECRET, HOST: '127.0.0.1', ADMIN_EMAIL: admin.email, ADMIN_PASSWORD: admin.password },
      // Its node-gyp is an old one of its own, which knows headers by this name alone and fetches them otherwise.
      npm_config_nodedir: '/usr',
    },
    async write(ask, name) {
      const headers = await signedIn(ask)
      await ask('/collections', items, headers).catch(() => undefined)
      await ask('/items/items', { name }, headers)
    },
    read: async (ask) => ask('/items/items', undefined, await signedIn(ask)),
  },
  {
    name: 'strapi',
    kind: 'postgres',
    variable: 'DATABASE_URL',
    env: { SECRET, APP_KEYS: `${SECRET},${SECRET}`, STRAPI_TELEMETRY_DISABLED: 'true' },
    write: (ask, name) => ask('/api/items', { data: { name } }),
    read: (ask) => ask('/api/items'),
  },
  {
    name: 'bullmq',
    kind: 'kv',
    variable: 'REDIS_URL',
    env: {},
    write: (ask, name) => ask('/items', { name }),
    read: (ask) => ask('/items'),
  },
]

const id = { field: 'id', type: 'integer', schema: { is_primary_key: true, has_auto_increment: true } }
const items = { collection: 'items', schema: {}, fields: [id, { field: 'name', type: 'string', schema: {} }] }

async function signedIn(ask: Ask): Promise<Record<string, string>> {
  const { data } = JSON.parse(await ask('/auth/login', admin)) as { data: { access_token: string } }
  return { authorization: `Bearer ${data.access_token}` }
}
