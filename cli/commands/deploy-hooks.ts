import type { Command } from 'commander'
import type { DeployHook } from '../../shared/deploy-hook.ts'
import { addServiceOption, type OfService, resolveService, serviceNamed } from '../finding/service.ts'
import type { Context, Start } from '../session/context.ts'
import { confirmByName } from '../session/prompt.ts'
import { clean, cleanText } from '../terminal/text.ts'

interface RotateOptions extends OfService {
  yes?: boolean
}

export function addDeployHookCommands(program: Command, start: Start): void {
  const hooks = program.command('deploy-hooks').description('Secret URLs that deploy a service, for pipelines and other systems')
  const add = (name: string, description: string) =>
    addServiceOption(hooks.command(name))
      .description(description)
      .argument('[service]', 'Name or id; default: the one named after this folder')
  add('show', 'Show the hook of a service: whoever has it can deploy')
    .addHelpText('after', '\nExample:\n  curl -X POST "$(cpctl deploy-hooks show web)"')
    .action((name: string | undefined, options: OfService, command: Command) => show(start(command), name, options))
  add('rotate', 'Give a service a new hook; the one of before ends at once')
    .option('-y, --yes', 'Do not ask')
    .action((name: string | undefined, options: RotateOptions, command: Command) => rotate(start(command), name, options))
}

async function show(context: Context, name: string | undefined, options: OfService): Promise<void> {
  const { id: serviceId } = await resolveService(context, serviceNamed(name, options))
  print(context, await context.client.call('getDeployHook', { params: { serviceId } }))
}

async function rotate(context: Context, name: string | undefined, options: RotateOptions): Promise<void> {
  const service = await resolveService(context, serviceNamed(name, options))
  if (!context.isJson) context.note(clean`Whatever calls the hook of ${service.name} needs the new one.`)
  await confirmByName(context, service.name, options.yes === true)
  print(context, await context.client.call('rotateDeployHook', { params: { serviceId: service.id } }))
}

const print = (context: Context, hook: DeployHook): void => (context.isJson ? context.printJson(hook) : context.print(cleanText(hook.url)))
