import { type DeployPlan, DeployPlanQuery } from '../../shared/deploy-plan.ts'
import type { ServiceType } from '../../shared/service-type.ts'
import { present } from '../base/present.ts'
import { findService } from '../finding/service.ts'
import { type SettingOptions, settingsInput } from '../options/service.ts'
import type { Context } from '../session/context.ts'
import { detectType } from '../source/detect.ts'
import type { SourceFile } from '../source/files.ts'
import { clean } from '../terminal/text.ts'
import { planOf } from './upload.ts'

export interface Planned {
  name: string
  options: SettingOptions & { type?: ServiceType }
  files: readonly SourceFile[]
}

export async function planDeploy(context: Context, { name, options, files }: Planned): Promise<void> {
  const service = await findService(context, name)
  const type = options.type ?? service?.type ?? (await detectType(files, options.rootDir))
  settingsInput(type, options)
  const settings: Record<string, unknown> = Object.fromEntries(Object.keys(DeployPlanQuery.properties).map((key) => [key, options[key]]))
  const query: DeployPlanQuery = { ...present(settings), type, ...(service !== undefined && { serviceId: service.id }) }
  const plan = await planOf(context, { query, files })
  if (context.isJson) return context.printJson(plan)
  context.print(service === undefined ? clean`${name} would be made, a ${type}:` : clean`${name} (${service.id}) is there, a ${type}:`)
  for (const line of describePlan(plan)) context.print(line)
}

export function describePlan(plan: DeployPlan): string[] {
  const { runtime, packageManager, rootDir, appDir, steps, preDeployCommand, startCommand, publishPaths, notes } = plan
  const row = (name: string, value: string | undefined) => (value === undefined || value === '' ? [] : [clean`  ${name}: ${value}`])
  return [
    ...row('runtime', packageManager === undefined ? runtime : `${runtime}, with ${packageManager}`),
    ...row('folder', rootDir),
    ...row('app', appDir === undefined ? undefined : `${appDir}, a member of the workspace above it`),
    ...steps.flatMap(({ name, command }) => row(name, command)),
    ...row('pre-deploy', preDeployCommand),
    ...row('start', startCommand),
    ...row('publish', publishPaths.join(' or ')),
    ...(notes.length === 0 ? [] : ['Why:', ...notes.map((note) => clean`  ${note}`)]),
    'Nothing was built or changed.',
  ]
}
