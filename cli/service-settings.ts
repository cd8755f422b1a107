import { type Command, Option } from 'commander'
import { type OverlapPolicy, overlapPolicies } from '../shared/cron.ts'
import { isPlatformKey, parseDotenv } from '../shared/env.ts'
import { buildPlanNames, planNames } from '../shared/plan.ts'
import { maxInstances, runtimes, type ServiceDetailsInput, type ServicePatch } from '../shared/service.ts'
import {
  defaultControls,
  maxGuardWindowSeconds,
  maxIdleSeconds,
  minGuardWindowSeconds,
  minIdleSeconds,
  type SleepMode,
  sleepModes,
} from '../shared/service-controls.ts'
import { type ServiceType, traitsOf } from '../shared/service-type.ts'
import { usageError } from './error.ts'
import { formatAge } from './figures.ts'
import { durationOption, gather, wholeNumber } from './options.ts'
import { clean } from './terminal-text.ts'

export const MAX_SHUTDOWN_DELAY_SECONDS = 300

/** Settings of a service as options of create, update and deploy. */
export interface SettingOptions {
  runtime?: (typeof runtimes)[number]
  plan?: (typeof planNames)[number]
  buildPlan?: (typeof buildPlanNames)[number]
  instances?: number
  buildCommand?: string
  startCommand?: string
  preDeployCommand?: string
  healthCheckPath?: string
  publishPath?: string
  rootDir?: string
  shutdownDelay?: number
  allowUserNamespaces?: boolean
  allowIp?: string[]
  guard?: boolean
  guardWindow?: number
  guardThreshold?: number
  schedule?: string
  timezone?: string
  overlap?: OverlapPolicy
  sleep?: SleepMode
  /** Milliseconds. */
  sleepAfter?: number
}

export const addSettingOptions = (command: Command): Command =>
  command
    .addOption(new Option('--runtime <runtime>', 'What builds and runs it').choices(runtimes))
    .addOption(new Option('--plan <plan>', 'What an instance may use').choices(planNames))
    .addOption(new Option('--build-plan <plan>', 'What a build may use').choices(buildPlanNames))
    .option('--instances <count>', 'How many instances run', wholeNumber(1, maxInstances))
    .option('--build-command <command>', 'Command that builds it')
    .option('--start-command <command>', 'Command that starts it')
    .option('--pre-deploy-command <command>', 'Command to run before a new release starts')
    .option('--health-check-path <path>', 'Path that answers 2xx or 3xx when an instance is healthy')
    .option('--publish-path <path>', 'Folder of a static site that is served')
    .option('--root-dir <path>', 'Folder of the source in which it is built')
    .option('--shutdown-delay <seconds>', 'Time an instance has to end', wholeNumber(1, MAX_SHUTDOWN_DELAY_SECONDS))
    .option(
      '--allow-user-namespaces',
      'Let its processes make user namespaces, where the operator permits it: for Chromium and its sandbox',
    )
    .option('--no-allow-user-namespaces', 'Refuse that; the default')
    .option('--allow-ip <ranges>', 'Addresses that may reach it, such as 203.0.113.0/24; or everywhere, or nobody', gather)
    .option('--guard', 'Take a new release back by itself when it does far worse than the old one; the default')
    .option('--no-guard', 'Leave a new release as it is, however it does')
    .option('--guard-window <seconds>', 'How long a new release is watched', wholeNumber(minGuardWindowSeconds, maxGuardWindowSeconds))
    .option('--guard-threshold <points>', 'Percentage points of 5xx above the old release that are too many', wholeNumber(1, 100))
    .option('--schedule <fields>', "When a cron job runs: five fields in quotes, such as '0 3 * * *', or @hourly, @daily …")
    .option('--timezone <zone>', 'IANA time zone in which the schedule is read (default: UTC)')
    .addOption(new Option('--overlap <policy>', 'What happens to a run while another is under way').choices(overlapPolicies))
    .addOption(new Option('--sleep <mode>', 'Freeze or stop it while nobody asks for it; the next request wakes it').choices(sleepModes))
    .option('--sleep-after <duration>', 'How long nobody must have asked for it, such as 15m', durationOption)

/** The part of a service's body that the options stand for; each type has its commands in a place of its own. */
export function settingsInput(type: ServiceType, options: SettingOptions): Pick<ServicePatch, 'rootDir' | 'serviceDetails'> {
  const { buildCommand, startCommand, preDeployCommand } = options
  const commands = !traitsOf(type).runsProgram
    ? { buildCommand, startCommand, preDeployCommand }
    : { envSpecificDetails: absentIfEmpty(present({ buildCommand, startCommand, preDeployCommand })) }
  if (!traitsOf(type).runsProgram && (startCommand ?? preDeployCommand) !== undefined) {
    throw usageError('A static site is served from its files: it has no start command and no pre-deploy command.')
  }
  const details: ServiceDetailsInput = present({
    runtime: options.runtime,
    plan: options.plan,
    buildPlan: options.buildPlan,
    numInstances: options.instances,
    healthCheckPath: options.healthCheckPath,
    publishPath: options.publishPath,
    maxShutdownDelaySeconds: options.shutdownDelay,
    allowUserNamespaces: options.allowUserNamespaces,
    schedule: options.schedule,
    timezone: options.timezone,
    overlapPolicy: options.overlap,
    ...commands,
    ...controlsInput(options),
  })
  return present({ rootDir: options.rootDir, serviceDetails: absentIfEmpty(details) })
}

/** What takes effect at once: it is no part of a release. */
function controlsInput({
  allowIp,
  guard,
  guardWindow,
  guardThreshold,
  sleep: mode,
  sleepAfter,
}: SettingOptions): Pick<ServiceDetailsInput, 'ipAllowList' | 'cutoverGuard' | 'sleep'> {
  const cutoverGuard = present({ enabled: guard, windowSeconds: guardWindow, errorRateThreshold: guardThreshold })
  const sleep = present({ mode, idleSeconds: sleepAfter === undefined ? undefined : idleSecondsOf(sleepAfter) })
  return present({ ipAllowList: allowIp && allowListOf(allowIp), cutoverGuard: absentIfEmpty(cutoverGuard), sleep: absentIfEmpty(sleep) })
}

function idleSecondsOf(ms: number): number {
  const seconds = Math.round(ms / 1000)
  if (seconds < minIdleSeconds || seconds > maxIdleSeconds)
    throw usageError(`--sleep-after takes a duration from ${formatAge(minIdleSeconds * 1000)} to ${formatAge(maxIdleSeconds * 1000)}.`)
  return seconds
}

/** The server says which range is wrong. */
function allowListOf(ranges: readonly string[]): NonNullable<ServiceDetailsInput['ipAllowList']> {
  if (ranges.includes('nobody')) return []
  return ranges.includes('everywhere') ? defaultControls.ipAllowList : ranges.map((cidrBlock) => ({ cidrBlock }))
}

const atOnce: ReadonlySet<string> = new Set<keyof SettingOptions>([
  'instances',
  'allowIp',
  'guard',
  'guardWindow',
  'guardThreshold',
  'schedule',
  'timezone',
  'overlap',
  'sleep',
  'sleepAfter',
])

/** Whether one of the options takes effect with the next deploy only. */
export const isPartOfRelease = (options: SettingOptions): boolean => Object.keys(options).some((name) => !atOnce.has(name))

type Present<T> = { [K in keyof T]?: Exclude<T[K], undefined> }

/** The fields that have a value: an absent one and one that is undefined are different things to the server. */
export const present = <T extends object>(fields: T): Present<T> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Present<T>

const absentIfEmpty = <T extends object>(fields: T): T | undefined => (Object.keys(fields).length === 0 ? undefined : fields)

/** Variables given as `KEY=value`. @throws CliError with the usage exit code. */
export function parsePairs(pairs: readonly string[]): { key: string; value: string }[] {
  return pairs.map((pair) => {
    const at = pair.indexOf('=')
    if (at < 1) throw usageError(`${pair} is not KEY=value.`)
    return { key: pair.slice(0, at), value: pair.slice(at + 1) }
  })
}

/** Variables of a `.env` file's text. @throws CliError with the usage exit code, naming the file and the line. */
export function parseEnvFile(text: string, name: string): { key: string; value: string }[] {
  try {
    return parseDotenv(text)
  } catch (error) {
    throw usageError(`${name}: ${error instanceof Error ? error.message : error}`)
  }
}

/** What a `.env` file holds for local work, such as PORT, is left out where the platform gives it; `tell` is told. */
export function withoutPlatformKeys<T extends { key: string }>(pairs: readonly T[], tell: (line: string) => void): T[] {
  const given = pairs.filter(({ key }) => isPlatformKey(key))
  if (given.length > 0) tell(clean`Left out, since the platform gives it: ${given.map(({ key }) => key).join(', ')}`)
  return pairs.filter(({ key }) => !isPlatformKey(key))
}
