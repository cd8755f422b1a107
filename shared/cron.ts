import { type Static, Type } from '@sinclair/typebox'
import { withOption } from './cli-option.ts'
import { Id } from './id.ts'
import { Many, OneOf, PageQuery, Time } from './schema.ts'

/** What happens to a run that falls due while an earlier one is still under way: it is left out, it runs beside it, or in its place. */
export const overlapPolicies = ['skip', 'allow', 'replace'] as const
export type OverlapPolicy = (typeof overlapPolicies)[number]

/** When a cron job runs. Like all controls it is in force at once and no part of a release. */
export const CronRule = Type.Object({ schedule: Type.String(), timezone: Type.String(), overlapPolicy: OneOf(overlapPolicies) })
export type CronRule = Static<typeof CronRule>

/** Services that are no cron jobs have a rule too: an empty schedule never runs. */
export const defaultCronRule: CronRule = { schedule: '', timezone: 'UTC', overlapPolicy: 'skip' }

export const ScheduleInput = withOption(
  {
    name: 'schedule',
    value: 'fields',
    help: "When a cron job runs: five fields in quotes, such as '0 3 * * *', or @hourly, @daily …",
    isAtOnce: true,
  },
  Type.String({
    maxLength: 200,
    description:
      'Five fields: minute, hour, day of month, month, day of week, with names, lists, ranges and steps; or @hourly, @daily, @weekly, @monthly, @yearly',
    examples: ['*/15 9-17 * * MON-FRI'],
  }),
)

export const TimezoneInput = withOption(
  { name: 'timezone', value: 'zone', help: 'IANA time zone in which the schedule is read (default: UTC)', isAtOnce: true },
  Type.String({
    maxLength: 64,
    description: 'Name of the IANA time zone in which the schedule is read; default UTC',
    examples: ['Europe/Berlin'],
  }),
)

/** Names and meanings are Render's: a run that waits or runs is `pending`. */
export const cronRunStatuses = ['pending', 'successful', 'unsuccessful', 'canceled'] as const
export type CronRunStatus = (typeof cronRunStatuses)[number]

export const CronJobRun = Type.Object(
  {
    id: Id('job'),
    status: OneOf(cronRunStatuses),
    createdAt: Time,
    startedAt: Type.Optional(Time),
    finishedAt: Type.Optional(Time),
    triggeredBy: Type.String({ description: '`schedule`, or the id of who asked for it' }),
    canceledBy: Type.Optional(Type.String({ description: 'Id of who canceled it' })),
    dueAt: Type.Optional(Type.String({ ...Time, description: 'The time of the schedule that it is for' })),
    exitCode: Type.Optional(Type.Integer()),
    reason: Type.Optional(Type.String({ description: 'Why it was unsuccessful or canceled' })),
  },
  { $id: 'CronJobRun' },
)
export type CronJobRun = Static<typeof CronJobRun>

export const CronRunQuery = Type.Object({ ...PageQuery, status: Many(OneOf(cronRunStatuses)) })
export type CronRunQuery = Static<typeof CronRunQuery>
