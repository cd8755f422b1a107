import { isDeployRunning } from '../../shared/deploy.ts'
import type { EnvGroup, TouchedService } from '../../shared/env-group.ts'
import { CliError } from '../base/error.ts'
import { formatTook } from '../base/figures.ts'
import { present } from '../base/present.ts'
import { pollDeploy } from '../deploying/watch.ts'
import type { Context } from '../session/context.ts'
import { printTable } from '../session/output.ts'
import type { Column } from '../terminal/table.ts'
import { clean } from '../terminal/text.ts'

export interface ChangeOptions {
  deploy?: boolean
}

/** What several changes mean together: of one service all names, and what the last of them said of its deploy. */
export function together(changes: readonly EnvGroup[]): EnvGroup | undefined {
  const last = changes.at(-1)
  if (last === undefined) return undefined
  const byId = new Map<string, TouchedService>()
  for (const one of changes.flatMap(({ touched = [] }) => touched)) {
    const before = byId.get(one.id)
    const union = (names: readonly string[], others: readonly string[] = []) => [...new Set([...others, ...names])].sort()
    byId.set(one.id, {
      ...one,
      envVars: union(one.envVars, before?.envVars),
      secretFiles: union(one.secretFiles, before?.secretFiles),
    })
  }
  return { ...last, touched: [...byId.values()] }
}

const columns: Column<TouchedService>[] = [
  { title: 'SERVICE', value: ({ name }) => name, colour: () => 'bold' },
  { title: 'GETS OTHERWISE', value: ({ envVars, secretFiles }) => [...envVars, ...secretFiles].join(', '), isFlexible: true },
  { title: 'REMARK', value: ({ problem, skipped }) => skipped ?? problem ?? '', isFlexible: true },
]

export async function tellChange(context: Context, changed: EnvGroup, { what, deploy }: ChangeOptions & { what: string }): Promise<void> {
  const none =
    changed.serviceLinks.length === 0
      ? clean`No service is linked to ${changed.name}: cpctl env-groups link makes that.`
      : 'That makes no difference for any service: each has a value of its own, or the same one.'
  if (!context.isJson) context.print(what)
  await tellTouched(context, changed, { none, ...present({ deploy }) })
}

/** Tells for which services a change makes a difference, and how their deploys end; `none` is said where there are no such. @throws CliError where one is not live. */
export async function tellTouched(
  context: Context,
  changed: { touched?: TouchedService[] },
  { none, deploy }: ChangeOptions & { none: string },
): Promise<void> {
  const touched = changed.touched ?? []
  if (!context.isJson) {
    if (touched.length > 0) printTable(context, columns, touched)
    else context.note(none)
    if (touched.length > 0 && deploy !== true) context.note('It takes effect with their next deploys: --deploy makes them.')
  }
  const failed = await endsOf(context, touched)
  if (context.isJson) context.printJson(changed)
  if (failed.length > 0)
    throw new CliError('conflict', `Not all of them are live: ${failed.join('; ')}`, { hint: 'The others have the new values.' })
}

async function endsOf(context: Context, touched: readonly TouchedService[]): Promise<string[]> {
  const failed: string[] = []
  for (const { id: serviceId, name, deployId } of touched) {
    if (deployId === undefined) continue
    const { client, io } = context
    const first = await client.call('getDeploy', { params: { serviceId, deployId } })
    const polled = { client, serviceId, deployId, onStatus: () => {}, interrupted: io.interrupted }
    const deploy = await pollDeploy(polled, first, ({ status }) => !isDeployRunning(status))
    const isLive = deploy.status === 'live' || deploy.status === 'deactivated'
    if (!isLive) failed.push(clean`${name}: ${deploy.reason ?? deploy.status}`)
    else if (!context.isJson) {
      const took = formatTook(Date.parse(deploy.finishedAt ?? deploy.updatedAt) - Date.parse(deploy.createdAt))
      context.print(context.paint.green(clean`${name} is live after ${took}`))
    }
  }
  return failed
}
