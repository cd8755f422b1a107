import type { Command } from 'commander'
import { allPages } from '../api/pages.ts'
import { CliError, usageError } from '../base/error.ts'
import { type Deployed, deployCopies } from '../copying/deploy.ts'
import { endsOf } from '../copying/ends.ts'
import { executeCopy } from '../copying/execute.ts'
import { readDatastores, readGroups, readOriginal } from '../copying/originals.ts'
import { type CopyPlan, planCopy } from '../copying/plan.ts'
import { remaindersOf } from '../copying/remainders.ts'
import { planInLines } from '../copying/show.ts'
import { summaryOf } from '../copying/summary.ts'
import { gatherWhole } from '../options/values.ts'
import type { Context, Start } from '../session/context.ts'

interface CopyOptions {
  project?: string
  name?: string[]
  withValues?: boolean
  deploy?: boolean
  dryRun?: boolean
}

export function addCopyCommand(projects: Command, start: Start): void {
  projects
    .command('copy')
    .description('Make an environment or a project like another: its services and databases with their settings, under new names')
    .argument('<source>', 'Environment (name, id or project/environment), or project')
    .argument('<target>', 'Environment or project that it is copied to, which is made where it is not there')
    .option('--project <project>', 'Project of the source environment, by name or id')
    .option('--name <original=copy>', 'Name of a copy; otherwise web becomes web-staging; may be repeated', gatherWhole)
    .option('--with-values', 'Copy the values of variables and secret files, too; otherwise they are empty')
    .option('--deploy', 'Deploy the copies from the source that is live in the originals')
    .option('--dry-run', 'Only show what would be made')
    .addHelpText('after', help)
    .action((source: string, target: string, options: CopyOptions, command: Command) =>
      copy(start(command), { source, target, project: options.project }, options),
    )
}

const help = `
Disks and databases are made empty, variables that refer to a database to its copy, and domains stay with the originals: what is to be set is told at the end. What is there
under the name of a copy is left as it is, so a copy that broke off goes on when it is run again.

Examples:
  $ cpctl projects copy production staging --dry-run
  $ cpctl projects copy shop/production shop/staging --with-values --deploy
  $ cpctl projects copy shop shop-eu`

async function copy(context: Context, given: Parameters<typeof endsOf>[1], options: CopyOptions): Promise<void> {
  const plan = await planFor(context, given, options)
  if (!context.isJson) for (const line of planInLines(plan)) context.print(line)
  if (options.dryRun) {
    if (context.isJson) context.printJson(summaryOf(plan))
    return
  }
  const made = await executeCopy(context, plan)
  for (const line of remaindersOf(plan)) context.note(line)
  const deployed = options.deploy ? await deployCopies(context, made) : []
  if (context.isJson) context.printJson(summaryOf(plan, { copied: made.services, deployed }))
  refuseFailed(deployed)
  if (!context.isJson) context.note(endOf(plan, options))
}

function endOf({ environments }: CopyPlan, { deploy }: CopyOptions): string {
  const services = environments.flatMap((environment) => environment.services)
  if (services.length === 0) return 'There was no service to copy.'
  if (services.every(({ existing }) => existing !== undefined)) return 'Every service has its copy.'
  return deploy ? 'Done.' : 'Nothing was deployed: --deploy does that, or cpctl deploy --service <name> in the folder of each.'
}

function refuseFailed(deployed: readonly Deployed[]): void {
  const failed = deployed.filter(({ deploy: { status } }) => status !== 'live' && status !== 'deactivated')
  if (failed.length === 0) return
  throw new CliError('conflict', `Did not become live: ${failed.map(({ name }) => name).join(', ')}.`, {
    hint: 'Set what they lack, and run the same command again; cpctl logs <service> tells more.',
  })
}

async function planFor(context: Context, given: Parameters<typeof endsOf>[1], options: CopyOptions): Promise<CopyPlan> {
  const { project, pairs, wholeProject, from, to } = await endsOf(context, given)
  const isWithValues = options.withValues === true
  const services = (await allPages((query) => context.client.call('listServices', { query }))).map(({ service }) => service).reverse()
  const isFrom = (places: { environmentId?: string; projectId?: string }): boolean =>
    pairs.some(({ of: { environment } }) => places.environmentId === environment.id || places.projectId === environment.projectId)
  const groups = await readGroups(context, { isCopied: isFrom, isWithValues })
  const datastores = await readDatastores(
    context,
    pairs.map(({ of: { environment } }) => environment),
  )
  const copies = []
  for (const pair of pairs) {
    const own = services.filter(({ environmentId }) => environmentId === pair.of.environment.id)
    const originals = []
    for (const service of own) originals.push(await readOriginal(context, service, { groups, isWithValues }))
    const held = datastores.filter(({ of }) => of.environmentId === pair.of.environment.id)
    copies.push({ ...pair, originals, datastores: held })
  }
  const renaming = { from, to, chosen: chosenNames(options.name) }
  return planCopy({ project, copies, services, datastores, groups, renaming, isWithValues, wholeProject })
}

function chosenNames(pairs: readonly string[] = []): Map<string, string> {
  return new Map(
    pairs.map((pair): [string, string] => {
      const [original = '', copy = '', ...rest] = pair.split('=')
      if (original === '' || copy === '' || rest.length > 0)
        throw usageError(`${pair} is not original=copy.`, 'For example --name web=web-eu.')
      return [original, copy]
    }),
  )
}
