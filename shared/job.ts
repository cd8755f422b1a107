import { type Static, Type } from '@sinclair/typebox'
import { Id } from './id.ts'
import { planNames } from './plan.ts'
import { Many, OneOf, PageQuery, StrictObject, Time, TimeInput } from './schema.ts'

/** The statuses a job passes through, in order; the last three are ends. */
export const jobStatuses = ['pending', 'running', 'succeeded', 'failed', 'canceled'] as const
export type JobStatus = (typeof jobStatuses)[number]

/** Whether a job of this status is not going to run, or not any more. */
export const isJobOver = (status: JobStatus): boolean => status !== 'pending' && status !== 'running'

/** Jobs of one service that run at the same time; further ones wait as `pending`. */
export const maxRunningJobs = 10
/** Jobs of one service that wait or run; beyond that none is taken. */
export const maxOpenJobs = 1000
/** How long a job may run; a run of a cron job half as long, as on Render. */
export const maxJobHours = 24

export const Job = Type.Object(
  {
    id: Id('job'),
    serviceId: Id('service'),
    startCommand: Type.String(),
    planId: OneOf(planNames, 'What it may use'),
    status: OneOf(jobStatuses),
    createdAt: Time,
    startedAt: Type.Optional(Time),
    finishedAt: Type.Optional(Time),
    exitCode: Type.Optional(Type.Integer({ description: 'Of the command, once it has exited by itself' })),
    reason: Type.Optional(Type.String({ description: 'Why it failed or was canceled' })),
  },
  { $id: 'Job' },
)
export type Job = Static<typeof Job>

export const JobCreate = StrictObject(
  {
    startCommand: Type.String({
      minLength: 1,
      maxLength: 32_768,
      pattern: '^[^\\u0000]*[^\\s\\u0000][^\\u0000]*$',
      description: 'A shell command line, run in the folder of the live release',
      examples: ['npm run migrate'],
    }),
    planId: Type.Optional(OneOf([...planNames, ''], 'What it may use; default, and where empty: the plan of the service')),
  },
  { examples: [{ startCommand: 'npm run migrate' }] },
)
export type JobCreate = Static<typeof JobCreate>

export const JobQuery = Type.Object({
  ...PageQuery,
  status: Many(OneOf(jobStatuses)),
  createdBefore: Type.Optional(TimeInput),
  createdAfter: Type.Optional(TimeInput),
  startedBefore: Type.Optional(TimeInput),
  startedAfter: Type.Optional(TimeInput),
  finishedBefore: Type.Optional(TimeInput),
  finishedAfter: Type.Optional(TimeInput),
})
export type JobQuery = Static<typeof JobQuery>
