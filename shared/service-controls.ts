import { type Static, Type } from '@sinclair/typebox'
import { withOption } from './cli-option.ts'
import { CronRule, defaultCronRule } from './cron.ts'
import { OneOf, StrictObject, visibleChar } from './schema.ts'

/** Controls take effect at once and are no part of a release: a rollback leaves them as they are. */

const maxAllowEntries = 200

const IpAllowEntry = StrictObject({
  cidrBlock: Type.String({ maxLength: 64, examples: ['203.0.113.0/24'] }),
  description: Type.Optional(Type.String({ maxLength: 200, pattern: `^${visibleChar}*$`, examples: ['office'] })),
})

export const IpAllowListInput = withOption(
  {
    name: 'allow-ip',
    value: 'ranges',
    help: 'Addresses that may reach it, such as 203.0.113.0/24; or everywhere, or nobody',
    writtenAs: 'addresses',
    isAtOnce: true,
  },
  Type.Array(IpAllowEntry, {
    maxItems: maxAllowEntries,
    description:
      'Addresses that may reach the service; all others get 403. 0.0.0.0/0 is everywhere, IPv6 included. An empty list lets nobody in.',
  }),
)

export const MaintenanceModeInput = StrictObject({
  enabled: Type.Boolean({ description: 'Every request gets 503 with Retry-After, or is sent to uri; instances go on running' }),
  uri: Type.Optional(
    Type.String({ maxLength: 2048, pattern: '^(https?://[!-~]+)?$', description: 'Page of another host to send requests to, by 302' }),
  ),
})

/** Figures are read once a second: a shorter window is judged by a handful of samples. While it lasts both releases take memory. */
const guardWindowSeconds = { minimum: 5, maximum: 300 } as const

export const CutoverGuardInput = StrictObject({
  enabled: Type.Optional(
    withOption(
      {
        name: 'guard',
        help: 'Take a new release back by itself when it does far worse than the old one; the default',
        helpOfNo: 'Leave a new release as it is, however it does',
        isAtOnce: true,
      },
      Type.Boolean({ description: 'Whether a new release that does far worse than the old one is taken back by itself' }),
    ),
  ),
  windowSeconds: Type.Optional(
    withOption(
      { name: 'guard-window', value: 'seconds', help: 'How long a new release is watched', isAtOnce: true },
      Type.Integer({ ...guardWindowSeconds, description: 'For how long a new release is watched', examples: [30] }),
    ),
  ),
  errorRateThreshold: Type.Optional(
    withOption(
      {
        name: 'guard-threshold',
        value: 'points',
        help: 'Percentage points of 5xx above the old release that are too many',
        isAtOnce: true,
      },
      Type.Integer({
        minimum: 1,
        maximum: 100,
        description: 'Percentage points of 5xx above the old release that are too many',
        examples: [20],
      }),
    ),
  ),
})

/** `freeze` keeps an idle instance in memory without a share of the processor, `stop` ends it. */
export const sleepModes = ['off', 'freeze', 'stop'] as const
export type SleepMode = (typeof sleepModes)[number]

/** A pause shorter than a minute is no idleness, and what the ingress counts is known a second later. */
const idleSeconds = { minimum: 60, maximum: 7 * 24 * 3600 } as const

export const SleepInput = StrictObject({
  mode: Type.Optional(
    withOption(
      { name: 'sleep', value: 'mode', help: 'Freeze or stop it while nobody asks for it; the next request wakes it', isAtOnce: true },
      OneOf(
        sleepModes,
        'freeze: an idle instance keeps its memory and gets no processor time; stop: it is ended. The next request wakes it.',
      ),
    ),
  ),
  idleSeconds: Type.Optional(
    withOption(
      {
        name: 'sleep-after',
        value: 'duration',
        help: 'How long nobody must have asked for it, such as 15m',
        writtenAs: 'duration',
        isAtOnce: true,
      },
      Type.Integer({ ...idleSeconds, description: 'For how long nobody must have asked for it through the ingress', examples: [900] }),
    ),
  ),
})

export const IpAllowList = Type.Array(Type.Object({ cidrBlock: Type.String(), description: Type.String() }))
export const MaintenanceMode = Type.Object({ enabled: Type.Boolean(), uri: Type.String() })
export const CutoverGuard = Type.Object({
  enabled: Type.Boolean(),
  windowSeconds: Type.Integer(),
  errorRateThreshold: Type.Integer(),
})
export type CutoverGuard = Static<typeof CutoverGuard>
export const Sleep = Type.Object({ mode: OneOf(sleepModes), idleSeconds: Type.Integer() })
export type Sleep = Static<typeof Sleep>

export const ServiceControls = Type.Object({
  maintenanceMode: MaintenanceMode,
  ipAllowList: IpAllowList,
  cutoverGuard: CutoverGuard,
  sleep: Sleep,
  cron: CronRule,
})
export type ServiceControls = Static<typeof ServiceControls>

/** Wrong configuration and dead connections show within half a minute. For the threshold see server/apps/cutover-guard/verdict.ts. */
const defaultGuard: CutoverGuard = { enabled: true, windowSeconds: 30, errorRateThreshold: 20 }

export const defaultControls: ServiceControls = {
  maintenanceMode: { enabled: false, uri: '' },
  ipAllowList: [{ cidrBlock: '0.0.0.0/0', description: 'everywhere' }],
  cutoverGuard: defaultGuard,
  sleep: { mode: 'off', idleSeconds: 900 },
  cron: defaultCronRule,
}
