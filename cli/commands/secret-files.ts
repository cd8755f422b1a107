import { basename } from 'node:path'
import type { Command } from 'commander'
import type { SecretFile } from '../../shared/env.ts'
import type { Service } from '../../shared/service.ts'
import { allPages } from '../api/pages.ts'
import { CliError } from '../base/error.ts'
import { resolveService } from '../finding/service.ts'
import type { Context, Start } from '../session/context.ts'
import { printList } from '../session/output.ts'
import { clean } from '../terminal/text.ts'
import { afterChange, textOf } from './env.ts'

interface ChangeOptions {
  service?: string
  name?: string
  deploy?: boolean
}

export function addSecretFileCommands(program: Command, start: Start): void {
  const files = program.command('secret-files').description('Secret files of a service')
  const add = (name: string, description: string) =>
    files.command(name).description(description).option('-s, --service <service>', 'Name or id; default: the one named after this folder')
  add('list', 'List secret files, without their contents')
    .alias('ls')
    .action((options: ChangeOptions, command: Command) => list(start(command), options))
  add('set', 'Add or change a secret file')
    .argument('<file>', 'The file, or - for standard input')
    .option('--name <name>', "Its name for the service; default: the file's own")
    .option('--deploy', 'Deploy afterwards, so that it takes effect')
    .action((file: string, options: ChangeOptions, command: Command) => set(start(command), file, options))
  add('unset', 'Remove a secret file')
    .argument('<name>', 'Its name')
    .option('--deploy', 'Deploy afterwards, so that it takes effect')
    .action((name: string, options: ChangeOptions, command: Command) => unset(start(command), name, options))
}

const filesOf = (context: Context, service: Service) =>
  allPages((query) => context.client.call('listSecretFiles', { params: { serviceId: service.id }, query }))

async function list(context: Context, options: ChangeOptions): Promise<void> {
  const service = await resolveService(context, options.service)
  const page = (await filesOf(context, service)).map((item) => ({
    ...item,
    secretFile: { ...item.secretFile, content: '', hidden: true as const },
  }))
  const columns = [{ title: 'NAME', value: ({ name }: SecretFile) => name }]
  printList(context, { page, row: ({ secretFile }) => secretFile, columns, empty: clean`${service.name} has no secret files.` })
}

async function set(context: Context, file: string, options: ChangeOptions): Promise<void> {
  const content = await textOf(context, file)
  const service = await resolveService(context, options.service)
  const name = options.name ?? basename(file)
  const others = (await readable(context, service)).filter((held) => held.name !== name)
  await replace(context, service, [...others, { name, content }])
  await afterChange(context, service, { what: clean`Set ${name}`, isDeployed: options.deploy === true })
}

async function unset(context: Context, name: string, options: ChangeOptions): Promise<void> {
  const service = await resolveService(context, options.service)
  const held = await readable(context, service)
  const others = held.filter((file) => file.name !== name)
  if (others.length === held.length) throw new CliError('not_found', `${service.name} has no secret file ${name}.`)
  await replace(context, service, others)
  await afterChange(context, service, { what: clean`Removed ${name}`, isDeployed: options.deploy === true })
}

async function replace({ client }: Context, service: Service, files: SecretFile[]): Promise<void> {
  const body = files.map(({ name, content }) => ({ name, content }))
  await client.call('replaceSecretFiles', { params: { serviceId: service.id }, body })
}

/** The API replaces all files at once, so changing one needs the contents of the others. */
async function readable(context: Context, service: Service): Promise<SecretFile[]> {
  const files = (await filesOf(context, service)).map(({ secretFile }) => secretFile)
  if (files.some(({ hidden }) => hidden)) {
    throw new CliError('forbidden', 'Changing one secret file needs the others to be read, which your role may not.', {
      hint: 'It needs the permission env.read.',
    })
  }
  return files
}
