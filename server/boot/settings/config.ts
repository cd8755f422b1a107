import { AppError } from '../../../shared/error.ts'
import { backupSettings } from '../../apps/backups/settings.ts'
import { appSettings } from '../../apps/settings.ts'
import { sourceHostSettings } from '../../apps/source-hosts/settings.ts'
import { type BuilderSettings, builderSettings } from '../../builders/settings.ts'
import { edgeSettings } from '../../edge/settings.ts'
import { engineSettings } from '../../engines/settings.ts'
import { httpSettings } from '../../http/settings.ts'
import { identitySettings } from '../../identity/settings.ts'
import { ingressSettings } from '../../ingress/settings.ts'
import { type Address, formatAddress } from '../../platform/network/address.ts'
import { platformSettings } from '../../platform/settings/rows.ts'
import type { Setting, SettingRows, ValuesOf } from '../../platform/settings/setting.ts'
import { runtimeSettings } from '../../runtime/settings.ts'
import { telemetrySettings } from '../../telemetry/settings.ts'

const settings = {
  ...runtimeSettings,
  ...httpSettings,
  ...ingressSettings,
  ...appSettings,
  ...sourceHostSettings,
  ...backupSettings,
  ...identitySettings,
  ...edgeSettings,
  ...engineSettings,
  ...builderSettings,
  ...telemetrySettings,
  ...platformSettings,
}

const rows: SettingRows = settings
const named = Object.entries(settings) as [SettingName, Setting<unknown>][]

export type SettingName = keyof typeof settings
export type Config = ValuesOf<typeof settings> & BuilderSettings

/** The effective configuration, flags before environment. @throws AppError `bad_request` naming the variable that is unknown or wrong. */
export function readConfig(
  env: Readonly<Record<string, string | undefined>>,
  flags: Partial<Record<SettingName, string>>,
  isRoot: boolean,
): Config {
  refuseUnknown(env)
  const values: Record<string, unknown> = {}
  for (const [name, { legacyName = '' }] of named) {
    const given = flags[name] ?? env[name] ?? env[legacyName] ?? defaultOf(name, isRoot)
    values[name] = parseSetting(name, given)
  }
  values.buildEnv = passedToBuilds(values.CP_BUILD_PASS as string[], env)
  return Object.freeze(values as Config)
}

/** @throws AppError bad_request naming the one of these settings that is unknown or whose value is not acceptable. */
export function checkSettings(given: Readonly<Record<string, string>>): void {
  refuseUnknown(given)
  for (const [name, value] of Object.entries(given)) parseSetting(name as SettingName, value)
}

export const serveFlags = named.flatMap(([name, { flag, help }]) => (flag === undefined ? [] : [{ name, flag, help }]))

export function describeConfig(config: Config): { name: SettingName; value: string; help: string }[] {
  return named.map(([name, { secret, help, whenEmpty = '' }]) => ({
    name,
    value: secret
      ? config[name] === undefined
        ? '(not set)'
        : '(set)'
      : printed(config[name]) || (typeof whenEmpty === 'string' ? whenEmpty : whenEmpty(config)),
    help,
  }))
}

function defaultOf(name: SettingName, isRoot: boolean): string {
  const text = rows[name]?.default ?? ''
  return typeof text === 'string' ? text : text(isRoot)
}

function parseSetting(name: SettingName, value: string): unknown {
  try {
    return rows[name]?.parse(value)
  } catch (error) {
    throw new AppError('bad_request', `${name}: ${error instanceof Error ? error.message : 'not acceptable'}`)
  }
}

function refuseUnknown(env: Readonly<Record<string, string | undefined>>): void {
  const unknown = Object.keys(env).find((name) => name.startsWith('CP_') && !(name in settings))
  if (unknown !== undefined) throw new AppError('bad_request', `${unknown} is not a setting. \`cpd config\` lists those there are.`)
}

/** Our own settings are never among them, whatever the patterns say: the static token would hand the platform to every build. */
function passedToBuilds(patterns: string[], env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const ownNames = new Set(named.flatMap(([name, { legacyName = name }]) => [name, legacyName]))
  const isPassed = (name: string) =>
    !ownNames.has(name) && patterns.some((pattern) => (pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern))
  return Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined && isPassed(entry[0])))
}

const printed = (value: unknown): string => {
  if (value === undefined) return ''
  if (Array.isArray(value)) return value.join(',')
  if (typeof value !== 'object' || value === null) return String(value)
  if ('host' in value) return formatAddress(value as Address)
  return Object.entries(value)
    .map(([name, limit]) => `${name}=${limit}`)
    .join(',')
}
