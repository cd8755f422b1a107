import { type EnvVar, formatDotenv, type ResolvedEnvVar } from '../../shared/env.ts'
import { allPages } from '../api/pages.ts'
import { CliError } from '../base/error.ts'
import { type OfService, resolveService } from '../finding/service.ts'
import type { Context } from '../session/context.ts'
import { cleanLines } from '../terminal/text.ts'
import { variablesOf } from './env-lists.ts'

export interface ExportOptions extends OfService {
  resolve?: boolean
}

export async function exportAll(context: Context, options: ExportOptions): Promise<void> {
  const service = await resolveService(context, options.service)
  const page = await (options.resolve ? resolvedOf(context, service.id) : variablesOf(context, service))
  const hidden = page.filter((item) => item.envVar.hidden).map(({ envVar }) => envVar)
  if (hidden.length > 0) throw mayNotSee(hidden, options)
  if (context.isJson) return context.printJson(page)
  writeDotenv(
    context,
    page.map(({ envVar }) => envVar),
    ({ key, option }) => `cpctl env set ${service.name} ${key} ${option}`,
  )
}

/** Own variables alone, each with what the next deploy gives in its place. */
async function resolvedOf({ client }: Context, serviceId: string): Promise<{ cursor: string; envVar: ResolvedEnvVar }[]> {
  const all = await allPages((query) => client.call('listEnvVars', { params: { serviceId }, query: { ...query, resolved: true } }))
  return all
    .map(({ cursor, envVar }) => ({ cursor, envVar: envVar as ResolvedEnvVar }))
    .filter(({ envVar }) => envVar.source?.type === 'service')
    .map(({ cursor, envVar: { fromDatabase: _, fromKeyValue: __, interpolate: ___, ...plain } }) => ({ cursor, envVar: plain }))
}

const mayNotSee = (hidden: readonly EnvVar[], { resolve }: ExportOptions): CliError =>
  new CliError('forbidden', 'Your role may not see the values.', {
    hint: resolve
      ? `${hidden.map(({ key }) => key).join(', ')} need the permission env.read, and datastores.credentials where a database says them.`
      : 'It needs the permission env.read; cpctl env list shows the names.',
  })

interface Reference {
  key: string
  /** What says of a command that sets a variable which datastore is meant, and what of it. */
  option: string
}

/** Variables in .env format. One that has a datastore say its value is a comment with the command that sets it: an empty value would replace it. */
export function writeDotenv(
  { io: { stdout } }: Context,
  variables: readonly ResolvedEnvVar[],
  commandFor: (reference: Reference) => string,
): void {
  const text = variables.map((variable) => lineOf(variable, commandFor)).join('')
  stdout.write(stdout.isTty ? cleanLines(text) : text)
}

function lineOf(variable: ResolvedEnvVar, commandFor: (reference: Reference) => string): string {
  const { key, problem } = variable
  if (problem !== undefined) return `# ${key} ${problem}\n`
  const option = optionOf(variable)
  return option === undefined ? formatDotenv([variable]) : `# ${commandFor({ key, option })}\n`
}

function optionOf({ fromDatabase, fromKeyValue }: EnvVar): string | undefined {
  const reference = fromDatabase ?? fromKeyValue
  if (reference === undefined) return undefined
  const flag = fromDatabase === undefined ? '--from-kv' : '--from-postgres'
  const property = reference.property === 'connectionString' ? '' : ` --property ${reference.property}`
  return `${flag} ${reference.name ?? reference.id}${property}`
}
