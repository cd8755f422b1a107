/** The clients that are tried, and how each is started in the folder of a release. */

export interface NamedClient {
  name: string
  speaks: 'postgres' | 'key_value'
  /** The service in whose release it stands. */
  app: 'javascript' | 'python'
  argv: string[]
}

export interface Place {
  url: string
  /** The authority's root, from outside. */
  caFile: string | undefined
}

const postgresPrograms: [name: string, app: NamedClient['app'], argv: string[]][] = [
  ['node-postgres', 'javascript', ['node', 'postgres.mjs', 'pg']],
  ['postgres.js', 'javascript', ['node', 'postgres.mjs', 'postgres.js']],
  ['Bun.SQL', 'javascript', ['bun', 'postgres.mjs', 'bun']],
  ['psycopg 3', 'python', ['.venv/bin/python', 'postgres.py', 'psycopg']],
  ['asyncpg', 'python', ['.venv/bin/python', 'postgres.py', 'asyncpg']],
  ['pgx v5', 'javascript', ['./pgx']],
  ['pgjdbc', 'javascript', ['java', '-cp', 'pgjdbc.jar', 'Jdbc.java']],
  ['psql', 'javascript', ['bash', 'psql.sh']],
]

const keyValuePrograms: [name: string, app: NamedClient['app'], argv: string[]][] = [
  ['ioredis', 'javascript', ['node', 'key-value.mjs', 'ioredis']],
  ['node-redis', 'javascript', ['node', 'key-value.mjs', 'node-redis']],
  ['Bun.RedisClient', 'javascript', ['bun', 'key-value.mjs', 'bun']],
  ['redis-py', 'python', ['.venv/bin/python', 'key_value.py', 'redis']],
  ['valkey-py', 'python', ['.venv/bin/python', 'key_value.py', 'valkey']],
  ['redis-cli', 'javascript', ['bash', 'redis-cli.sh']],
]

export const namedClients: NamedClient[] = [
  ...postgresPrograms.map(([name, app, argv]): NamedClient => ({ name, app, speaks: 'postgres', argv })),
  ...keyValuePrograms.map(([name, app, argv]): NamedClient => ({ name, app, speaks: 'key_value', argv })),
]

/** What a client is told: where to connect to, and whom to trust there. */
export const environmentOf = ({ speaks }: NamedClient, { url, caFile }: Place): Record<string, string> => ({
  [speaks === 'postgres' ? 'DATABASE_URL' : 'REDIS_URL']: url,
  ...(caFile !== undefined && { CA_FILE: caFile, NODE_EXTRA_CA_CERTS: caFile }),
})
