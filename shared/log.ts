import { type Static, Type } from '@sinclair/typebox'
import { Many, OneOf, Paths, pageItems, TimeInput } from './schema.ts'

/** `platform` is what cpd itself remarks among lines of apps and builds. */
export const logTypes = ['app', 'request', 'build', 'platform'] as const
export type LogType = (typeof logTypes)[number]

/** The eight of syslog (RFC 5424), least severe first. */
export const logLevels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const
export type LogLevel = (typeof logLevels)[number]

export const logLabels = ['resource', 'instance', 'level', 'type', 'host', 'method', 'statusCode', 'path'] as const
export type LogLabel = (typeof logLabels)[number]

export const Log = Type.Object(
  {
    id: Type.String(),
    message: Type.String(),
    timestamp: Type.String({ description: 'RFC 3339, UTC; more digits than milliseconds keep lines of one moment apart' }),
    labels: Type.Array(Type.Object({ name: OneOf(logLabels), value: Type.String() })),
  },
  { $id: 'Log' },
)
export type Log = Static<typeof Log>

const wildcard = '* stands for any characters'
const noSuchLabel = 'No line has one, so none is found'

const filters = {
  ownerId: Type.Optional(Type.String({ maxLength: 64 })),
  resource: Many(Type.String({ maxLength: 64, description: 'Id of a service, a database or a key-value store' })),
  instance: Many(Type.String({ maxLength: 64 })),
  level: Many(Type.String({ maxLength: 32, description: logLevels.join(', ') })),
  type: Many(OneOf(logTypes, 'platform: what cpd itself remarks among lines of apps and builds')),
  host: Many(Type.String({ maxLength: 256, description: `Of requests; ${wildcard}` })),
  method: Many(Type.String({ maxLength: 32, description: `Of requests; ${wildcard}` })),
  statusCode: Many(Type.String({ maxLength: 8, description: `Of requests, 5* for a class; ${wildcard}` })),
  path: Paths(`Of requests, without the query; ${wildcard}`),
  task: Many(Type.String({ maxLength: 64, description: noSuchLabel })),
  taskRun: Many(Type.String({ maxLength: 64, description: noSuchLabel })),
  sandbox: Many(Type.String({ maxLength: 64, description: noSuchLabel })),
  text: Type.Optional(Type.Array(Type.String({ maxLength: 500, description: 'Words that must all stand in the line' }), { maxItems: 20 })),
  startTime: Type.Optional(TimeInput),
  endTime: Type.Optional(TimeInput),
  direction: Type.Optional(OneOf(['backward', 'forward'])),
}

export const LogQuery = Type.Object({
  ...filters,
  limit: Type.Optional(Type.Integer({ minimum: 1, default: pageItems.default, description: `1 to ${pageItems.most}; larger is clamped` })),
})
export type LogQuery = Static<typeof LogQuery>

export const LogSubscribeQuery = Type.Object(filters)
export type LogSubscribeQuery = Static<typeof LogSubscribeQuery>

export const LogValuesQuery = Type.Object({ ...filters, label: OneOf(logLabels) })

export const LogPage = Type.Object({
  hasMore: Type.Boolean(),
  nextStartTime: Type.String({ description: 'startTime of the next page' }),
  nextEndTime: Type.String({ description: 'endTime of the next page' }),
  logs: Type.Array(Log),
})
export type LogPage = Static<typeof LogPage>
