import { Type } from '@sinclair/typebox'
import { LogPage, LogQuery, LogSubscribeQuery, LogValuesQuery } from '../log.ts'
import { defineOperations } from '../operation.ts'

export const logOperations = defineOperations({
  listLogs: {
    method: 'GET',
    path: '/v1/logs',
    access: 'logs.read',
    tag: 'Logs',
    summary: 'Search logs',
    description:
      'Newest first unless `direction=forward`. Without `resource`, of all services, databases and key-value stores of the workspace.',
    query: LogQuery,
    responses: { 200: LogPage },
    errors: ['not_found'],
  },
  subscribeLogs: {
    method: 'GET',
    path: '/v1/logs/subscribe',
    access: 'logs.read',
    tag: 'Logs',
    summary: 'Follow logs over a WebSocket',
    description: 'One text frame is one log line as JSON. `startTime` begins with history; live lines follow without a gap.',
    query: LogSubscribeQuery,
    responses: { 101: null },
    errors: ['not_found'],
    webSocket: true,
  },
  listLogValues: {
    method: 'GET',
    path: '/v1/logs/values',
    access: 'logs.read',
    tag: 'Logs',
    summary: 'Values that a label has in the logs',
    query: LogValuesQuery,
    responses: { 200: Type.Array(Type.String()) },
    errors: ['not_found'],
  },
})
