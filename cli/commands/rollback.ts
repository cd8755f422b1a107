import type { Command } from 'commander'
import type { RollbackPlan } from '../../shared/deploy.ts'
import { isId } from '../../shared/id.ts'
import { awaitDeploy } from '../deploying/outcome.ts'
import { resolveService } from '../finding/service.ts'
import type { Context, Start } from '../session/context.ts'
import { clean } from '../terminal/text.ts'

interface RollbackOptions {
  service?: string
  dryRun?: boolean
  detach?: boolean
}

export function addRollbackCommand(program: Command, start: Start): void {
  program
    .command('rollback')
    .description('Go back to an earlier release: code, variables, secret files and limits')
    .argument('[deploy]', 'Deploy to go back to, or a service; default: the deploy that was live before')
    .option('-s, --service <service>', 'Name or id; default: the one named after this folder')
    .option('--dry-run', 'Show what would change, and change nothing')
    .option('-d, --detach', 'Do not wait until it is live')
    .action((name: string | undefined, options: RollbackOptions, command: Command) => rollback(start(command), name, options))
}

async function rollback(context: Context, name: string | undefined, options: RollbackOptions): Promise<void> {
  const deployId = name !== undefined && isId('deploy', name) ? name : undefined
  const service = await resolveService(context, options.service ?? (deployId === undefined ? name : undefined))
  const reply = await context.client.call('rollback', {
    params: { serviceId: service.id },
    body: { ...(deployId === undefined ? {} : { deployId }), ...(options.dryRun ? { dryRun: true } : {}) },
  })
  if ('id' in reply) return awaitDeploy(context, { service, deployId: reply.id, isDetached: options.detach === true })
  if (context.isJson) return context.printJson(reply)
  for (const line of describePlan(reply)) context.print(line)
}

export function describePlan(plan: RollbackPlan): string[] {
  const code = plan.code.changes ? [clean`  code: ${plan.code.from} -> ${plan.code.to}`] : []
  const settings = plan.settings.map(({ name, from, to }) => clean`  ${name}: ${from || '(none)'} -> ${to || '(none)'}`)
  const changes = [...code, ...namesOf('variable', plan.envVars), ...namesOf('secret file', plan.secretFiles), ...settings]
  const head = clean`Rolling back from ${plan.fromDeployId} to ${plan.toDeployId} would change`
  const away = plan.strategy === 'stop_first' ? ['It is stop-first, as the service has a disk: it would be away for a moment.'] : []
  return changes.length === 0 ? [`${head} nothing.`, ...away] : [`${head}:`, ...changes, ...away]
}

const namesOf = (what: string, { added, removed, changed }: RollbackPlan['envVars']): string[] => [
  ...added.map((name) => clean`  + ${what} ${name}`),
  ...removed.map((name) => clean`  - ${what} ${name}`),
  ...changed.map((name) => clean`  ~ ${what} ${name}`),
]
