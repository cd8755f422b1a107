import type { Command } from 'commander'
import { usageError } from '../base/error.ts'
import { domainIn, type NamedDomain } from '../domains/named.ts'
import { addServiceOption, type OfService, resolveService } from '../finding/service.ts'
import type { Context, Start } from '../session/context.ts'
import { clean } from '../terminal/text.ts'
import { textOf } from './env.ts'

interface SetOptions extends OfService {
  cert: string
  key: string
}

export function addDomainCertificateCommands(domains: Command, start: Start): void {
  const certificate = domains
    .command('certificate')
    .description('A certificate of your own for a domain; others are obtained by themselves')
  const of = (name: string, description: string) =>
    addServiceOption(certificate.command(name).description(description))
      .usage('[options] [service] <domain>')
      .argument('<words...>', 'Host name, or id of the domain; a word before it names the service')
  of('set', 'Use a certificate of your own from now on')
    .requiredOption('--cert <file>', "The chain as PEM, the domain's own certificate first, or - for standard input")
    .requiredOption('--key <file>', 'Its key as PEM, not encrypted, or - for standard input')
    .action((words: string[], options: SetOptions, command: Command) => set(start(command), domainIn(words, options), options))
  of('remove', 'Use it no longer; one is obtained in its place')
    .alias('rm')
    .action((words: string[], options: OfService, command: Command) => remove(start(command), domainIn(words, options)))
}

async function set(context: Context, named: NamedDomain, options: SetOptions): Promise<void> {
  if (options.cert === '-' && options.key === '-') throw usageError('Only one of --cert and --key can be standard input.')
  const body = { certificate: await textOf(context, options.cert), privateKey: await textOf(context, options.key) }
  const service = await resolveService(context, named.service)
  const state = await context.client.call('setDomainCertificate', { params: { serviceId: service.id, domainId: named.domain }, body })
  if (context.isJson) return context.printJson(state)
  context.print(
    clean`${named.domain} is served with your certificate of ${state.issuer ?? 'an unnamed issuer'} until ${state.expiresAt ?? '-'}.`,
  )
}

async function remove(context: Context, named: NamedDomain): Promise<void> {
  const service = await resolveService(context, named.service)
  await context.client.call('removeDomainCertificate', { params: { serviceId: service.id, domainId: named.domain } })
  if (!context.isJson) context.print(clean`Your certificate of ${named.domain} is removed. One is obtained in its place.`)
}
