import type { Command } from 'commander'
import { CliError, usageError } from '../base/error.ts'
import { addServiceOption, type OfService, resolveService, serviceNamed } from '../finding/service.ts'
import { credentialFor, readAsked, writeAnswer } from '../git/credential.ts'
import { askGit, runGit } from '../git/program.ts'
import { commandsToAdd, commandToForget, repositoryUrl } from '../git/remote.ts'
import { type Context, currentServer, type Start } from '../session/context.ts'
import { clean, cleanText } from '../terminal/text.ts'

interface RemoteOptions {
  name: string
}

export function addGitCommands(program: Command, start: Start): void {
  const remotes = program.command('git-remote').description('The remote of this repository that deploys when it is pushed to')
  const add = (name: string, description: string) =>
    remotes.command(name).description(description).option('--name <remote>', 'What the remote is called', 'cpd')
  addServiceOption(add('add', 'Add the remote of a service, for which git asks cpctl for the key'))
    .argument('[service]', 'Name or id; default: the one named after this folder')
    .addHelpText('after', '\nExample:\n  $ cpctl git-remote add web\n  $ git push cpd main')
    .action((name: string | undefined, options: RemoteOptions & OfService, command: Command) =>
      addRemote(start(command), serviceNamed(name, options), options),
    )
  add('show', 'Show where it leads').action((options: RemoteOptions, command: Command) => show(start(command), options))
  add('remove', 'Remove it; the repository on the server stays').action((options: RemoteOptions, command: Command) =>
    remove(start(command), options),
  )
  program
    .command('git-credential', { hidden: true })
    .description('Tell git the key of a server; git itself runs this')
    .argument('<operation>', 'get; store and erase do nothing')
    .action((operation: string, _: unknown, command: Command) => answerGit(start(command), operation))
}

async function addRemote(context: Context, named: string | undefined, { name }: RemoteOptions): Promise<void> {
  const before = await urlOf(context, name)
  const service = await resolveService(context, named)
  const server = await currentServer(context)
  const url = repositoryUrl(server.url, service)
  if (before !== undefined && before !== url) throw taken(name, before)
  const commands = commandsToAdd({ name, url, login: server.name }, before !== undefined)
  for (const command of commands) await runGit(context.io.cwd, command)
  if (context.isJson) return context.printJson({ name, url, serviceId: service.id })
  context.print(clean`The remote ${name} leads to ${service.name}: ${url}`)
  context.note(clean`git push ${name} ${service.branch ?? 'main'} deploys it.`)
}

const taken = (name: string, url: string): CliError =>
  new CliError('conflict', `There is a remote ${name} already, which leads to ${url}.`, {
    hint: `Remove it with cpctl git-remote remove --name ${name}, or give another --name.`,
  })

async function show(context: Context, { name }: RemoteOptions): Promise<void> {
  const url = await urlOf(context, name)
  if (context.isJson) return context.printJson(url === undefined ? null : { name, url })
  if (url === undefined) context.note(clean`This repository has no remote ${name}: cpctl git-remote add makes it.`)
  else context.print(cleanText(url))
}

async function remove(context: Context, { name }: RemoteOptions): Promise<void> {
  const url = await urlOf(context, name)
  if (url !== undefined) {
    await askGit(context.io.cwd, commandToForget(url))
    await runGit(context.io.cwd, ['remote', 'remove', name])
  }
  if (context.isJson) return context.printJson(url === undefined ? null : { name, url })
  context.note(url === undefined ? clean`This repository has no remote ${name}.` : clean`Removed the remote ${name}.`)
}

/** Where a remote leads; undefined where there is none. @throws CliError outside of a repository. */
async function urlOf({ io }: Context, name: string): Promise<string | undefined> {
  if (!/^[A-Za-z0-9][\w.-]*$/.test(name)) throw usageError(`${name} is no name of a remote.`, 'Give one such as cpd.')
  const { exitCode } = await askGit(io.cwd, ['rev-parse', '--git-dir'])
  if (exitCode !== 0)
    throw new CliError('bad_request', `${io.cwd} is in no repository of git.`, { hint: 'git init makes one; or use cpctl deploy.' })
  const answer = await askGit(io.cwd, ['config', '--local', '--get', `remote.${name}.url`])
  return answer.exitCode === 0 ? answer.stdout : undefined
}

async function answerGit(context: Context, operation: string): Promise<void> {
  const asked = readAsked(await context.io.stdin.text())
  if (operation !== 'get' || asked === undefined) return
  try {
    context.io.stdout.write(writeAnswer(await credentialFor(context, asked)))
  } catch (error) {
    // Git would go on and ask on the terminal for what nobody knows.
    context.io.stdout.write('quit=1\n')
    throw error
  }
}
