import type { Command } from 'commander'
import { type HeaderRule, maxEdgeRules, type PathRule, type ServiceHeader, type ServiceRoute } from '../../shared/edge-rule.ts'
import type { Service } from '../../shared/service.ts'
import { allPages } from '../api/pages.ts'
import { CliError, usageError } from '../base/error.ts'
import { addServiceOption, type OfService, resolveService, serviceNamed, splitService } from '../finding/service.ts'
import { wholeNumber } from '../options/values.ts'
import type { Context, Start } from '../session/context.ts'
import { printList } from '../session/output.ts'
import type { Column } from '../terminal/table.ts'
import { clean } from '../terminal/text.ts'

const SERVICE_HELP = 'Name or id; default: the one named after this folder'

/** Headers, redirects and rewrites of a service: rules that the ingress keeps, the first that fits. They are in force at once. */
export function addEdgeRuleCommands(program: Command, start: Start): void {
  addHeaderCommands(program, start)
  addRouteCommands(program, start, { type: 'redirect', what: 'Paths that lead elsewhere, with a redirect of the browser' })
  addRouteCommands(program, start, { type: 'rewrite', what: 'Paths of a static site that are answered with another file' })
}

function addHeaderCommands(program: Command, start: Start): void {
  const headers = program.command('headers').description('Headers that are set on the answers of a service')
  const add = (name: string, description: string) => addServiceOption(headers.command(name).description(description))
  add('list', 'List them')
    .alias('ls')
    .argument('[service]', SERVICE_HELP)
    .action((service: string | undefined, options: OfService, command: Command) =>
      listHeaders(start(command), serviceNamed(service, options)),
    )
  add('set', 'Set a header on the answers below a path, in the place of the one of this name there')
    .usage('[options] [service] <path> <name> <value>')
    .argument('<words...>', "Path, such as '/assets/*', name and value; a word before them names the service")
    .action((words: string[], options: OfService, command: Command) => setHeader(start(command), splitService(words, 3, options)))
  add('remove', 'Set a header no longer')
    .alias('rm')
    .usage('[options] [service] <path> <name>')
    .argument('<words...>', 'Path and name; a word before them names the service')
    .action((words: string[], options: OfService, command: Command) => removeHeader(start(command), splitService(words, 2, options)))
}

interface Words {
  name: string | undefined
  rest: string[]
}

const headerColumns: Column<ServiceHeader>[] = [
  { title: 'PATH', value: ({ path }) => path },
  { title: 'HEADER', value: ({ name }) => name },
  { title: 'VALUE', value: ({ value }) => value, isFlexible: true },
]

const headersOf = ({ client }: Context, { id }: Service) =>
  allPages((query) => client.call('listHeaders', { params: { serviceId: id }, query }))

async function listHeaders(context: Context, name: string | undefined): Promise<void> {
  const service = await resolveService(context, name)
  const page = await headersOf(context, service)
  printList(context, {
    page,
    row: ({ header }) => header,
    columns: headerColumns,
    empty: clean`${service.name} sets no headers of its own.`,
  })
}

const isSame = (one: HeaderRule, path: string, name: string): boolean => one.path === path && one.name.toLowerCase() === name.toLowerCase()

async function setHeader(context: Context, { name: serviceName, rest }: Words): Promise<void> {
  const [path = '', name = '', value = ''] = rest
  const service = await resolveService(context, serviceName)
  const others = (await headersOf(context, service)).map(({ header }) => header).filter((header) => !isSame(header, path, name))
  await replaceHeaders(context, service, [...others, { path, name, value }])
  if (!context.isJson) context.print(clean`${service.name} sets ${name} on ${path} now.`)
}

async function removeHeader(context: Context, { name: serviceName, rest }: Words): Promise<void> {
  const [path = '', name = ''] = rest
  const service = await resolveService(context, serviceName)
  const all = (await headersOf(context, service)).map(({ header }) => header)
  const kept = all.filter((header) => !isSame(header, path, name))
  if (kept.length === all.length) throw noSuchRule(clean`${service.name} sets no ${name} on ${path}.`, 'headers', service)
  await replaceHeaders(context, service, kept)
  if (!context.isJson) context.print(clean`${service.name} sets ${name} on ${path} no longer.`)
}

async function replaceHeaders(context: Context, service: Service, rules: readonly HeaderRule[]): Promise<void> {
  const body = rules.map(({ path, name, value }) => ({ path, name, value }))
  const now = await context.client.call('replaceHeaders', { params: { serviceId: service.id }, body })
  if (context.isJson) context.printJson(now)
}

interface RouteKind {
  type: PathRule['type']
  what: string
}

function addRouteCommands(program: Command, start: Start, { type, what }: RouteKind): void {
  const routes = program.command(`${type}s`).description(what)
  const add = (name: string, description: string) => addServiceOption(routes.command(name).description(description))
  add('list', 'List them in the order in which they are tried')
    .alias('ls')
    .argument('[service]', SERVICE_HELP)
    .action((service: string | undefined, options: OfService, command: Command) =>
      listRoutes(start(command), type, serviceNamed(service, options)),
    )
  add('add', `Add a ${type}, or change where its source leads`)
    .usage('[options] [service] <source> <destination>')
    .argument('<words...>', "Source, such as '/old/*', and destination; a word before them names the service")
    .option('--priority <number>', 'Its place among them; smaller ones are tried first (default: the last)', wholeNumber(0, maxEdgeRules))
    .action((words: string[], options: AddRouteOptions, command: Command) =>
      addRoute(start(command), type, { ...splitService(words, 2, options), priority: options.priority }),
    )
  add('remove', `Remove a ${type}`)
    .alias('rm')
    .usage('[options] [service] <source>')
    .argument('<words...>', 'Its source; a word before it names the service')
    .action((words: string[], options: OfService, command: Command) => removeRoute(start(command), type, splitService(words, 1, options)))
}

interface AddRouteOptions extends OfService {
  priority?: number
}

const routeColumns: Column<ServiceRoute>[] = [
  { title: 'SOURCE', value: ({ source }) => source },
  { title: 'DESTINATION', value: ({ destination }) => destination, isFlexible: true },
  { title: 'PRIORITY', value: ({ priority }) => String(priority), align: 'right' },
]

const routesOf = ({ client }: Context, { id }: Service) =>
  allPages((query) => client.call('listRoutes', { params: { serviceId: id }, query }))

async function listRoutes(context: Context, type: PathRule['type'], name: string | undefined): Promise<void> {
  const service = await resolveService(context, name)
  const page = (await routesOf(context, service)).filter(({ route }) => route.type === type)
  printList(context, { page, row: ({ route }) => route, columns: routeColumns, empty: clean`${service.name} has no ${type}s.` })
}

async function addRoute(
  context: Context,
  type: PathRule['type'],
  { name, rest, priority }: Words & { priority: number | undefined },
): Promise<void> {
  const [source = '', destination = ''] = rest
  if (type === 'rewrite' && !destination.startsWith('/'))
    throw usageError('A rewrite leads to a path of the site.', 'Use cpctl redirects for another host.')
  const service = await resolveService(context, name)
  const others = (await routesOf(context, service))
    .map(({ route }) => route)
    .filter((route) => route.type !== type || route.source !== source)
  const at = Math.min(priority ?? others.length, others.length)
  await replaceRoutes(context, service, [...others.slice(0, at), { type, source, destination }, ...others.slice(at)])
  if (!context.isJson) context.print(clean`${source} of ${service.name} leads to ${destination} now.`)
}

async function removeRoute(context: Context, type: PathRule['type'], { name, rest }: Words): Promise<void> {
  const [source = ''] = rest
  const service = await resolveService(context, name)
  const all = (await routesOf(context, service)).map(({ route }) => route)
  const kept = all.filter((route) => route.type !== type || route.source !== source)
  if (kept.length === all.length) throw noSuchRule(clean`${service.name} has no ${type} of ${source}.`, `${type}s`, service)
  await replaceRoutes(context, service, kept)
  if (!context.isJson) context.print(clean`Removed the ${type} of ${source} of ${service.name}.`)
}

async function replaceRoutes(context: Context, service: Service, rules: readonly PathRule[]): Promise<void> {
  const body = rules.map(({ type, source, destination }) => ({ type, source, destination }))
  const now = await context.client.call('replaceRoutes', { params: { serviceId: service.id }, body })
  if (context.isJson) context.printJson(now)
}

const noSuchRule = (message: string, command: string, { name }: Service): CliError =>
  new CliError('not_found', message, { hint: clean`cpctl ${command} list ${name} shows what there is.` })
