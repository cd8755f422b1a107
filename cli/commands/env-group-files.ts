import { basename } from 'node:path'
import type { Command } from 'commander'
import { present } from '../base/present.ts'
import { type ChangeOptions, tellChange } from '../env-groups/touched.ts'
import { resolveGroup } from '../finding/env-groups.ts'
import type { Context, Start } from '../session/context.ts'
import { printList } from '../session/output.ts'
import { clean } from '../terminal/text.ts'
import { textOf } from './env.ts'
import { DEPLOY_HELP } from './env-group-variables.ts'

export function addGroupFileCommands(groups: Command, start: Start): void {
  const files = groups.command('files').description('Secret files of a group')
  const of = (name: string, description: string) => files.command(name).description(description).argument('<group>', 'Name or id')
  of('list', 'List the secret files of a group, without their contents')
    .alias('ls')
    .action((name: string, _: unknown, command: Command) => list(start(command), name))
  of('set', 'Add or change a secret file')
    .argument('<file>', 'The file, or - for standard input')
    .option('--name <name>', "Its name for services; default: the file's own")
    .option('--deploy', DEPLOY_HELP)
    .action((name: string, file: string, options: SetOptions, command: Command) => set(start(command), name, { ...options, file }))
  of('unset', 'Remove a secret file')
    .argument('<file>', 'Its name')
    .option('--deploy', DEPLOY_HELP)
    .action((name: string, file: string, options: ChangeOptions, command: Command) => unset(start(command), name, { ...options, file }))
}

async function list(context: Context, name: string): Promise<void> {
  const group = await resolveGroup(context, name)
  const page = group.secretFiles.map((file) => ({ ...file, content: '', hidden: true as const }))
  const columns = [{ title: 'NAME', value: (file: { name: string }) => file.name }]
  printList(context, { page, row: (file) => file, columns, empty: clean`${group.name} has no secret files.` })
}

interface SetOptions extends ChangeOptions {
  name?: string
}

async function set(context: Context, groupName: string, { file, deploy, ...options }: SetOptions & { file: string }): Promise<void> {
  const content = await textOf(context, file)
  const group = await resolveGroup(context, groupName)
  const fileName = options.name ?? basename(file)
  const changed = await context.client.call('setGroupSecretFile', {
    params: { envGroupId: group.id, fileName },
    body: { content },
    query: present({ deploy }),
  })
  await tellChange(context, changed, { what: clean`Set ${fileName} of ${group.name}.`, ...present({ deploy }) })
}

async function unset(context: Context, groupName: string, { file, deploy = false }: ChangeOptions & { file: string }): Promise<void> {
  const group = await resolveGroup(context, groupName)
  const params = { envGroupId: group.id, fileName: file }
  const changed = await context.client.call('deleteGroupSecretFile', { params, query: { deploy } })
  if (changed !== undefined) await tellChange(context, changed, { what: clean`Removed ${file} of ${group.name}.`, deploy })
}
