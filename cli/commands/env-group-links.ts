import type { Command } from 'commander'
import type { EnvGroup } from '../../shared/env-group.ts'
import type { Service } from '../../shared/service.ts'
import { type ChangeOptions, tellChange, together } from '../env-groups/touched.ts'
import { resolveGroup } from '../finding/env-groups.ts'
import { resolveService } from '../finding/service.ts'
import type { Context, Start } from '../session/context.ts'
import { clean } from '../terminal/text.ts'
import { DEPLOY_HELP } from './env-group-variables.ts'
import type { OfGroup } from './env-groups.ts'

export function addGroupLinkCommands(of: OfGroup, start: Start): void {
  of('link', 'Give services the variables and files of a group')
    .argument('<services...>', 'Names or ids')
    .option('--deploy', DEPLOY_HELP)
    .addHelpText('after', '\nA variable of the service itself wins; of two groups, that which was linked later.')
    .action((name: string, services: string[], options: ChangeOptions, command: Command) =>
      link(start(command), name, { ...options, services }),
    )
  of('unlink', 'Take a group from services')
    .argument('<services...>', 'Names or ids')
    .option('--deploy', DEPLOY_HELP)
    .action((name: string, services: string[], options: ChangeOptions, command: Command) =>
      unlink(start(command), name, { ...options, services }),
    )
}

type Links = ChangeOptions & { services: string[] }

async function link(context: Context, name: string, { services, deploy = false }: Links): Promise<void> {
  const changed = await withEach(context, { name, services }, (envGroupId, serviceId) =>
    context.client.call('linkEnvGroup', { params: { envGroupId, serviceId }, query: { deploy } }),
  )
  await tellChange(context, changed.group, { what: clean`${changed.names} has the variables of ${changed.group.name} now.`, deploy })
}

async function unlink(context: Context, name: string, { services, deploy = false }: Links): Promise<void> {
  const changed = await withEach(context, { name, services }, (envGroupId, serviceId) =>
    context.client.call('unlinkEnvGroup', { params: { envGroupId, serviceId }, query: { deploy } }),
  )
  await tellChange(context, changed.group, { what: clean`${changed.names} has the variables of ${changed.group.name} no more.`, deploy })
}

/** All are looked for before the first is changed, so that a wrong name changes nothing. */
async function withEach(
  context: Context,
  { name, services }: { name: string; services: string[] },
  change: (groupId: string, serviceId: string) => Promise<EnvGroup | undefined>,
): Promise<{ group: EnvGroup; names: string }> {
  const group = await resolveGroup(context, name)
  const found: Service[] = []
  for (const one of services) found.push(await resolveService(context, one))
  const changes: EnvGroup[] = []
  for (const { id } of found) changes.push((await change(group.id, id)) ?? group)
  return { group: together(changes) ?? group, names: found.map((service) => service.name).join(', ') }
}
