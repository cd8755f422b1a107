import { Type } from '@sinclair/typebox'
import { defineOperations } from '../operation.ts'

export const postgresTunnelOperations = defineOperations({
  openPostgresTunnel: {
    method: 'GET',
    path: '/v1/postgres/:postgresId/tunnel',
    access: 'datastores.credentials',
    inProtected: 'refused',
    tag: 'Postgres',
    summary: 'Connect to a database over a WebSocket',
    description: `One connection to the database, for clients of PostgreSQL on machines that its network and allow list do not let in. Binary frames are its
bytes, both ways; text frames are \`{"type":"taken","bytes":…}\`, with which each side says what it has taken: at most 256 KiB may be under way to the
database, 1 MiB to the client. The user of the connection logs in as ever.`,
    params: Type.Object({ postgresId: Type.String({ description: 'Id of the database' }) }),
    responses: { 101: null },
    errors: ['not_found', 'conflict'],
    webSocket: true,
  },
})
