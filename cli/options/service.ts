import { type Command, Option } from 'commander'
import { type OptionRow, optionsOf } from '../../shared/cli-option.ts'
import { ServicePatch } from '../../shared/service.ts'
import { defaultControls } from '../../shared/service-controls.ts'
import { hasDetail } from '../../shared/service-details.ts'
import { type ServiceType, traitsOf } from '../../shared/service-type.ts'
import { usageError } from '../base/error.ts'
import { formatAge } from '../base/figures.ts'
import { durationOption, gather, wholeNumber } from './values.ts'

/** Settings of a service as options of create, update and deploy, by the names of the options: one for each field that has one. */
export interface SettingOptions {
  [name: string]: unknown
  rootDir?: string
}

interface SettingOption {
  flags: Option[]
  attribute: string
  /** The fields that it stands for; which of them depends on the type of service. */
  rows: [OptionRow, ...OptionRow[]]
}

const settingOptions: SettingOption[] = [...Map.groupBy(optionsOf(ServicePatch), ({ name }) => name).values()].map((rows) => {
  const [first, ...others] = rows as [OptionRow, ...OptionRow[]]
  const flags = flagsOf(first)
  return { flags, attribute: flags[0]?.attributeName() ?? first.name, rows: [first, ...others] }
})

export const addSettingOptions = (command: Command): Command =>
  settingOptions.flatMap(({ flags }) => flags).reduce((changed, flag) => changed.addOption(flag), command)

/** The part of a service's body that the options stand for. @throws CliError with the usage exit code. */
export function settingsInput(type: ServiceType, options: SettingOptions): Pick<ServicePatch, 'rootDir' | 'serviceDetails'> {
  if (!traitsOf(type).runsProgram && (options.startCommand ?? options.preDeployCommand) !== undefined) {
    throw usageError('A static site is served from its files: it has no start command and no pre-deploy command.')
  }
  const body: Fields = {}
  for (const { attribute, rows } of settingOptions) {
    const value = options[attribute]
    const row = rows.find(({ path }) => suits(type, path)) ?? rows[0]
    if (value !== undefined) put(body, row.path, readValue(row, value))
  }
  return body
}

/** Whether one of the options takes effect with the next deploy only. */
export const isPartOfRelease = (options: SettingOptions): boolean =>
  settingOptions.some(({ attribute, rows: [{ isAtOnce }] }) => options[attribute] !== undefined && !isAtOnce)

function flagsOf({ name, value, help, helpOfNo, writtenAs, schema }: OptionRow): Option[] {
  if (value === undefined) return [new Option(`--${name}`, help), new Option(`--no-${name}`, helpOfNo)]
  const option = new Option(`--${name} <${value}>`, help)
  if (Array.isArray(schema.enum)) return [option.choices(schema.enum as string[])]
  if (writtenAs === 'duration') return [option.argParser(durationOption)]
  if (writtenAs === 'addresses') return [option.argParser(gather)]
  return [schema.type === 'integer' ? option.argParser(wholeNumber(schema.minimum, schema.maximum)) : option]
}

interface Fields {
  [key: string]: unknown
}

const suits = (type: ServiceType, [first, field = '']: string[]): boolean => first !== 'serviceDetails' || hasDetail(type, field)

function put(fields: Fields, [key = '', ...rest]: string[], value: unknown): void {
  if (rest.length === 0) fields[key] = value
  else {
    const inner: Fields = { ...(fields[key] as Fields | undefined) }
    put(inner, rest, value)
    fields[key] = inner
  }
}

function readValue(row: OptionRow, value: unknown): unknown {
  if (row.writtenAs === 'duration') return secondsOf(row, value as number)
  return row.writtenAs === 'addresses' ? allowListOf(value as string[]) : value
}

function secondsOf({ name, schema: { minimum, maximum } }: OptionRow, durationMs: number): number {
  const seconds = Math.round(durationMs / 1000)
  if (seconds < minimum || seconds > maximum)
    throw usageError(`--${name} takes a duration from ${formatAge(minimum * 1000)} to ${formatAge(maximum * 1000)}.`)
  return seconds
}

/** The server says which range is wrong. */
export function allowListOf(ranges: readonly string[]): { cidrBlock: string }[] {
  if (ranges.includes('nobody')) return []
  return ranges.includes('everywhere') ? defaultControls.ipAllowList : ranges.map((cidrBlock) => ({ cidrBlock }))
}
