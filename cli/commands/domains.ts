import type { Command } from 'commander'
import type { CustomDomain, DnsRecord } from '../../shared/custom-domain.ts'
import type { Service } from '../../shared/service.ts'
import { allPages } from '../api/pages.ts'
import { awaitVerification } from '../domains/await-verification.ts'
import { domainIn, type NamedDomain } from '../domains/named.ts'
import { addServiceOption, type OfService, resolveService, serviceNamed } from '../finding/service.ts'
import { durationOption } from '../options/values.ts'
import type { Context, Start } from '../session/context.ts'
import { printList, printTable } from '../session/output.ts'
import { confirmByName } from '../session/prompt.ts'
import type { Column } from '../terminal/table.ts'
import { clean } from '../terminal/text.ts'
import { addDomainCertificateCommands } from './domain-certificate.ts'

const DEFAULT_WAIT = '10m'

export function addDomainCommands(program: Command, start: Start): void {
  const domains = program.command('domains').description('Host names of your own that lead to a service')
  const add = (name: string, description: string) => addServiceOption(domains.command(name).description(description))
  add('list', 'List the domains of a service')
    .alias('ls')
    .argument('[service]', 'Name or id; default: the one named after this folder')
    .option('--records', 'Print the DNS records to set instead')
    .action((service: string | undefined, options: OfService & { records?: boolean }, command: Command) =>
      list(start(command), serviceNamed(service, options), options),
    )
  const addOf = (name: string, description: string) =>
    add(name, description)
      .usage('[options] [service] <domain>')
      .argument('<words...>', 'Host name, or id of the domain; a word before it names the service')
  addOf('add', 'Add a domain, and print the DNS records to set').action((words: string[], options: OfService, command: Command) =>
    addDomain(start(command), domainIn(words, options)),
  )
  addOf('verify', 'Have the DNS of a domain looked at now')
    .option('--wait', 'Go on until it is verified, and tell what was found')
    .option('--timeout <duration>', 'Longest time to wait', durationOption, durationOption(DEFAULT_WAIT))
    .action((words: string[], options: OfService & VerifyOptions, command: Command) =>
      verify(start(command), domainIn(words, options), options),
    )
  addOf('remove', 'Remove a domain: it leads to the service no longer')
    .alias('rm')
    .option('-y, --yes', 'Do not ask')
    .action((words: string[], options: OfService & { yes?: boolean }, command: Command) =>
      remove(start(command), domainIn(words, options), options.yes === true),
    )
  addDomainCertificateCommands(domains, start)
}

const columns: Column<CustomDomain>[] = [
  { title: 'DOMAIN', value: ({ name }) => name },
  { title: 'STATUS', value: ({ verificationStatus }) => verificationStatus, colour: statusColour },
  { title: 'CERTIFICATE', value: ({ certificate }) => certificate.status },
  { title: 'LAST LOOK AT DNS', value: ({ lastCheck }) => lastCheck?.message ?? '-', isFlexible: true },
]

function statusColour({ verificationStatus }: CustomDomain): 'green' | 'yellow' {
  return verificationStatus === 'verified' ? 'green' : 'yellow'
}

const recordColumns: Column<DnsRecord>[] = [
  { title: 'TYPE', value: ({ type }) => type },
  { title: 'NAME', value: ({ name }) => name },
  { title: 'VALUE', value: ({ value }) => value },
]

async function list(context: Context, name: string | undefined, { records }: { records?: boolean }): Promise<void> {
  const service = await resolveService(context, name)
  const page = await allPages((query) => context.client.call('listCustomDomains', { params: { serviceId: service.id }, query }))
  const empty = clean`${service.name} has no domains of its own. Add one with cpctl domains add ${service.name} <domain>.`
  if (context.isJson || !records || page.length === 0)
    return printList(context, { page, row: ({ customDomain }) => customDomain, columns, empty })
  printTable(
    context,
    recordColumns,
    page.flatMap(({ customDomain }) => customDomain.dnsRecords),
  )
}

async function addDomain(context: Context, { service: serviceName, domain: name }: NamedDomain): Promise<void> {
  const service = await resolveService(context, serviceName)
  const added = await context.client.call('createCustomDomain', { params: { serviceId: service.id }, body: { name } })
  if (context.isJson) return context.printJson(added)
  for (const domain of added) explain(context, service, domain)
}

function explain(context: Context, service: Service, { name, dnsRecords }: CustomDomain): void {
  const types = [...new Set(dnsRecords.map(({ type }) => type))].filter((type) => type !== 'TXT')
  const leading = types.length === 1 ? `${types[0]} record` : `${types.join(' and ')} records`
  const which = types.length === 0 ? 'the TXT record' : `the ${leading}, or the TXT record,`
  context.note(clean`Added ${name} to ${service.name}. Set ${which} where its DNS is kept:`)
  printTable(context, recordColumns, dnsRecords)
  if (types.length === 0) {
    context.note('TXT proves that the name is yours. Which address leads here is not known: ask the operator for CP_PUBLIC_ADDRESSES.')
  } else {
    const bring = types.length === 1 ? 'brings' : 'bring'
    context.note(`The ${leading} ${bring} people here; TXT alone proves the name while it still leads elsewhere.`)
  }
  context.note(
    clean`Once it is verified it leads to ${service.name}. DNS is looked at each minute for an hour, then hourly for three days.`,
  )
  context.note(clean`To wait for it: cpctl domains verify ${service.name} ${name} --wait`)
}

interface VerifyOptions {
  wait?: boolean
  timeout: number
}

async function verify(context: Context, named: NamedDomain, { wait, timeout }: VerifyOptions): Promise<void> {
  const service = await resolveService(context, named.service)
  const params = { serviceId: service.id, domainId: named.domain }
  if (!wait) {
    await context.client.call('verifyCustomDomain', { params })
    if (!context.isJson)
      context.print(clean`DNS of ${named.domain} is being looked at. cpctl domains list ${service.name} shows what is found.`)
    return
  }
  const domain = await awaitVerification(context, { params, timeoutMs: timeout })
  if (context.isJson) return context.printJson(domain)
  context.print(clean`${domain.name} is verified: ${domain.lastCheck?.message ?? 'it was before.'}`)
}

async function remove(context: Context, named: NamedDomain, isConfirmed: boolean): Promise<void> {
  const service = await resolveService(context, named.service)
  const domain = await context.client.call('getCustomDomain', { params: { serviceId: service.id, domainId: named.domain } })
  await confirmByName(context, domain.name, isConfirmed)
  await context.client.call('deleteCustomDomain', { params: { serviceId: service.id, domainId: domain.id } })
  if (!context.isJson) context.print(clean`Removed ${domain.name}: it leads to ${service.name} no longer.`)
}
