import type { Command } from 'commander'
import { CliError } from '../base/error.ts'
import { resolveService } from '../finding/service.ts'
import type { Context, Start } from '../session/context.ts'
import { cleanText } from '../terminal/text.ts'

export function addOpenCommand(program: Command, start: Start): void {
  program
    .command('open')
    .description('Print the URL of a service, and show it in a browser where there is one')
    .argument('[service]', 'Name or id; default: the one named after this folder')
    .action((name: string | undefined, _: unknown, command: Command) => open(start(command), name))
}

async function open(context: Context, name: string | undefined): Promise<void> {
  const service = await resolveService(context, name)
  const { url } = service.serviceDetails
  if (url === undefined) throw new CliError('not_found', `${service.name} is a ${service.type}: it has no URL.`)
  if (context.isJson) return context.printJson({ url })
  context.print(cleanText(url))
  context.io.openBrowser(url)
}
