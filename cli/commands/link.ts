import type { Command } from 'commander'
import { usageError } from '../base/error.ts'
import { type Place, placeName, placesOf, resolveEnvironment } from '../finding/environments.ts'
import { LINK_FILE, removeLink, writeLink } from '../linking/file.ts'
import { linkOf, placeOfLink } from '../linking/linked.ts'
import type { Context, Start } from '../session/context.ts'
import { ask } from '../session/prompt.ts'
import { clean } from '../terminal/text.ts'

interface LinkOptions {
  project?: string
  show?: boolean
  remove?: boolean
}

export function addLinkCommand(program: Command, start: Start): void {
  program
    .command('link')
    .description('Remember the environment in which cpctl deploy makes the service of this folder')
    .argument('[environment]', 'Its name, id or project/environment')
    .option('--project <project>', 'Project of the environment, by name or id')
    .option('--show', 'Show what this folder is linked to')
    .option('--remove', 'Forget it')
    .addHelpText(
      'after',
      `
It is kept in ${LINK_FILE} of this folder, which holds for the folders below it, too, and is not uploaded with the source.

Examples:
  $ cpctl link shop/staging
  $ cpctl link --show`,
    )
    .action((environment: string | undefined, options: LinkOptions, command: Command) => run(start(command), environment, options))
}

function run(context: Context, environment: string | undefined, options: LinkOptions): Promise<void> {
  const given = [environment, options.show, options.remove].filter((word) => word !== undefined)
  if (given.length > 1) throw usageError('Name an environment, or give one of --show and --remove.')
  if (options.show) return show(context)
  return options.remove ? remove(context) : link(context, environment, options.project)
}

async function link(context: Context, given: string | undefined, project: string | undefined): Promise<void> {
  const place = await resolveEnvironment(context, given ?? (await chosen(context)), project)
  const link = { project: place.project.name, environment: place.environment.name, environmentId: place.environment.id }
  const path = await writeLink(context.io.cwd, link)
  if (context.isJson) return context.printJson({ path, ...link })
  context.print(clean`Linked this folder to ${placeName(place)}.`)
  context.note(clean`New services of cpctl deploy are made there. Commit ${LINK_FILE} to have that for everybody.`)
}

async function chosen(context: Context): Promise<string> {
  const instead = 'For example cpctl link shop/staging; cpctl environments list shows those there are.'
  if (!context.io.stdin.isTty) throw usageError('Name the environment to link this folder to.', instead)
  const names = (await placesOf(context)).map(placeName)
  if (names.length === 0)
    throw usageError('There are no environments yet.', 'Make some with cpctl projects create <name> --environment production,staging.')
  for (const name of names) context.note(clean`  ${name}`)
  return (await ask(context, { text: 'Link this folder to which of these?', instead })).trim()
}

async function show(context: Context): Promise<void> {
  const found = await linkOf(context, context.io.cwd)
  if (found === undefined) return sayUnlinked(context)
  const place: Place = await placeOfLink(context, found)
  const { project, environment } = place
  if (context.isJson)
    return context.printJson({ path: found.path, project: project.name, environment: environment.name, environmentId: environment.id })
  context.print(clean`${placeName(place)} (${environment.id}), by ${found.path}`)
}

async function remove(context: Context): Promise<void> {
  const found = await linkOf(context, context.io.cwd)
  if (found === undefined) return sayUnlinked(context)
  await removeLink(found.path)
  if (context.isJson) return context.printJson({ path: found.path })
  context.print(clean`Removed ${found.path}: the folder is linked no longer.`)
}

function sayUnlinked(context: Context): void {
  if (context.isJson) context.printJson(null)
  else context.note('This folder is linked to no environment: cpctl link <project/environment> does that.')
}
