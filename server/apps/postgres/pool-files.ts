import { createHmac } from 'node:crypto'
import type { SecretFile } from '../../engines/port/workload.ts'
import { POSTGRES_POOL_PORT } from '../connections/connection.ts'
import { POOL } from './roles.ts'

export interface PoolFacts {
  adminPassword: string
  connections: number
  serverPort: number
}

/** The pooler may take this part of the database's connections: the rest stay for who connects past it. */
const SHARE_OF_CONNECTIONS = 0.8
const CLIENTS_PER_CONNECTION = 20

/** Follows from what is kept already, so that nothing more has to be. */
export const poolPassword = (adminPassword: string): string => createHmac('sha256', adminPassword).update(POOL).digest('hex')

/** Who signs in is looked up in the server (`auth_query`), so that roles, passwords and their ends are those of the database itself. */
export const poolFiles = ({ adminPassword, connections, serverPort }: PoolFacts): SecretFile[] => {
  const size = String(Math.max(1, Math.floor(connections * SHARE_OF_CONNECTIONS)))
  return [
    { name: 'pgbouncer-users', content: `"${POOL}" "${poolPassword(adminPassword)}"\n` },
    {
      name: 'pgbouncer.ini',
      content: [
        '[databases]',
        `* = host=127.0.0.1 port=${serverPort}`,
        '[pgbouncer]',
        'listen_addr = *',
        `listen_port = ${POSTGRES_POOL_PORT}`,
        'unix_socket_dir =',
        'pool_mode = transaction',
        'auth_type = scram-sha-256',
        'auth_file = pgbouncer-users',
        `auth_user = ${POOL}`,
        'auth_dbname = postgres',
        'auth_query = SELECT name, secret FROM cpd.secret_of($1)',
        `default_pool_size = ${size}`,
        `max_db_connections = ${size}`,
        `max_client_conn = ${connections * CLIENTS_PER_CONNECTION}`,
        'max_prepared_statements = 200',
        // Drivers send it at the start of each session, and it changes nothing since PostgreSQL 12.
        'ignore_startup_parameters = extra_float_digits',
        'tcp_keepidle = 60',
        'tcp_keepintvl = 10',
        'tcp_keepcnt = 6',
        'log_connections = 0',
        'log_disconnections = 0',
        'stats_period = 3600',
        '',
      ].join('\n'),
    },
  ]
}
