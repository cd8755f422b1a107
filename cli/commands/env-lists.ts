import type { EnvSource, EnvVar, PlatformEnvVar, ResolvedEnvVar } from '../../shared/env.ts'
import type { Service } from '../../shared/service.ts'
import { allPages } from '../api/pages.ts'
import { type OfService, resolveService } from '../finding/service.ts'
import type { Context } from '../session/context.ts'
import { printList } from '../session/output.ts'
import { secretValue } from '../terminal/secret-value.ts'
import type { Column } from '../terminal/table.ts'
import { clean } from '../terminal/text.ts'

export interface ListOptions extends OfService {
  show?: boolean
  resolved?: boolean
}

export const variablesOf = (context: Context, service: Service) =>
  allPages((query) => context.client.call('listEnvVars', { params: { serviceId: service.id }, query }))

export async function listOwn(context: Context, options: ListOptions): Promise<void> {
  const service = await resolveService(context, options.service)
  const page = await variablesOf(context, service)
  const columns: Column<EnvVar>[] = [
    { title: 'KEY', value: ({ key }) => key },
    { title: 'VALUE', value: (one) => referenceShown(one) ?? secretValue(one, options.show === true), isFlexible: true },
  ]
  const shown = options.show ? page : page.map((item) => ({ ...item, envVar: { ...item.envVar, value: '', hidden: true as const } }))
  if (context.isJson) return context.printJson(shown)
  printList(context, { page, row: ({ envVar }) => envVar, columns, empty: clean`${service.name} has no variables of its own.` })
}

function referenceShown({ fromDatabase, fromKeyValue }: EnvVar): string | undefined {
  const reference = fromDatabase ?? fromKeyValue
  return reference && `(${reference.property} of ${reference.name ?? `${reference.id}, which is gone`})`
}

const sourceName = ({ type, name }: EnvSource): string => name ?? (type === 'service' ? 'itself' : type)

const resolvedColumns = (isShown: boolean): Column<ResolvedEnvVar>[] => [
  { title: 'KEY', value: ({ key }) => key },
  { title: 'VALUE', value: (one) => shownValue(one, isShown), isFlexible: true },
  { title: 'FROM', value: ({ source }) => (source === undefined ? '' : sourceName(source)) },
  { title: 'HIDES', value: ({ hides = [] }) => hides.map(sourceName).join(', ') },
  { title: 'LIVE', value: ({ isLive }) => (isLive === undefined ? '' : isLive ? 'yes' : 'not yet') },
]

const shownValue = (one: ResolvedEnvVar, isShown: boolean): string =>
  one.problem === undefined ? secretValue(one, isShown || one.source?.type === 'platform') : `(${one.problem})`

export async function listResolved(context: Context, options: ListOptions): Promise<void> {
  const service = await resolveService(context, options.service)
  const page = await allPages((query) =>
    context.client.call('listEnvVars', { params: { serviceId: service.id }, query: { ...query, resolved: true } }),
  )
  const isShown = options.show === true
  if (context.isJson)
    return context.printJson(isShown ? page : page.map((item) => ({ ...item, envVar: { ...item.envVar, value: '', hidden: true } })))
  const empty = clean`${service.name} gets no variables.`
  printList(context, { page, row: ({ envVar }) => envVar, columns: resolvedColumns(isShown), empty })
}

const platformColumns: Column<PlatformEnvVar>[] = [
  { title: 'KEY', value: ({ key }) => key },
  { title: 'VALUE', value: ({ value }) => value, isFlexible: true },
  { title: 'WHAT IT IS', value: ({ description }) => description, isFlexible: true },
]

export async function listPlatform(context: Context, options: OfService): Promise<void> {
  const service = await resolveService(context, options.service)
  const page = await context.client.call('listPlatformEnv', { params: { serviceId: service.id } })
  const empty = clean`${service.name} is a ${service.type}: nothing runs that could be given variables.`
  printList(context, { page, row: ({ envVar }) => envVar, columns: platformColumns, empty })
}
