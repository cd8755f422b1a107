import { type Command, InvalidArgumentError } from 'commander'
import { allQuotas, MAX_QUOTA, type Quota, type QuotaName, type QuotaPatch, quotaNames } from '../../shared/quota.ts'
import type { Column } from '../terminal/table.ts'

const DEFAULT = 'default'

/** Adds an option for each quota: a number, or `default`. */
export function addQuotaOptions(command: Command): Command {
  for (const name of allQuotas) command.option(`--${flagOf(name)} <limit>`, `${quotaNames[name]}; "${DEFAULT}" takes it back`, parseLimit)
  return command
}

export const quotaPatchOf = (options: Partial<Record<QuotaName, number | typeof DEFAULT>>): QuotaPatch =>
  Object.fromEntries(Object.entries(options).map(([name, limit]) => [name, limit === DEFAULT ? null : limit]))

export const quotaColumns: Column<Quota>[] = [
  { title: 'QUOTA', value: ({ name }) => flagOf(name) },
  {
    title: 'USED',
    value: ({ used }) => String(used),
    align: 'right',
    colour: ({ used, limit }) => (isFull(used, limit) ? 'red' : undefined),
  },
  { title: 'LIMIT', value: ({ limit }) => (limit === null ? 'none' : String(limit)), align: 'right' },
  { title: '', value: ({ isDefault }) => (isDefault ? '' : 'set for this workspace') },
  { title: '', value: ({ description }) => description, isFlexible: true },
]

const isFull = (used: number, limit: number | null): boolean => limit !== null && used >= limit

const flagOf = (name: QuotaName): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

function parseLimit(text: string): number | typeof DEFAULT {
  if (text === DEFAULT) return DEFAULT
  if (!/^\d+$/.test(text) || Number(text) > MAX_QUOTA)
    throw new InvalidArgumentError(`Give a whole number up to ${MAX_QUOTA}, or "${DEFAULT}".`)
  return Number(text)
}
