import { clean } from '../terminal/text.ts'
import { nounOf, type PlannedDatastore } from './datastores.ts'
import type { PlannedGroup } from './groups.ts'
import type { CopyPlan, PlannedEnvironment, PlannedService } from './plan.ts'

export function planInLines({ project, groups, environments }: CopyPlan): string[] {
  const first = project.id === undefined ? [clean`+ project ${project.name}`] : []
  return [...first, ...groups.map(groupInLine), ...environments.flatMap(environmentInLines)]
}

function environmentInLines({ label, of, existing, settings, datastores, groups, services }: PlannedEnvironment): string[] {
  const traits = [
    ...(settings.protectedStatus === 'protected' ? ['protected'] : []),
    ...(settings.networkIsolationEnabled ? ['isolated'] : []),
  ]
  const having = traits.length === 0 ? '' : `, ${traits.join(' and ')}`
  const head = existing === undefined ? clean`+ environment ${label}, like ${of}${having}` : clean`= environment ${label} is there`
  return [
    head,
    ...datastores.map((datastore) => `  ${datastoreInLine(datastore)}`),
    ...groups.map((group) => `  ${groupInLine(group)}`),
    ...services.flatMap(serviceInLines),
  ]
}

function datastoreInLine({ original, name, existing }: PlannedDatastore): string {
  if (existing !== undefined) return clean`= ${nounOf(original)} ${name} is there and is left as it is`
  return clean`+ ${nounOf(original)} ${name}, like ${original.of.name}, empty`
}

function groupInLine({ original: { name: original, envVars, secretFiles }, name, existing }: PlannedGroup): string {
  if (existing !== undefined) return clean`= env group ${name} is there and is left as it is`
  const has = [...countOf(envVars.length, 'variable'), ...countOf(secretFiles.length, 'secret file')]
  return clean`+ env group ${name}, like ${original}${has.length === 0 ? '' : `: ${has.join(', ')}`}`
}

function serviceInLines({ original, name, existing, links }: PlannedService): string[] {
  const { service, envVars, secretFiles, domains } = original
  const linked = links.map(({ group, copy }) => clean`    + linked to ${copy?.name ?? group.name}`)
  if (existing !== undefined) return [clean`  = ${service.type} ${name} is there and is left as it is`, ...linked]
  const { disk, schedule } = service.serviceDetails
  const has = [
    ...(disk === undefined ? [] : [`an empty disk ${disk.name} of ${disk.sizeGB} GB`]),
    ...(schedule === undefined ? [] : [`the schedule ${schedule}`]),
    ...countOf(envVars.length, 'variable'),
    ...countOf(secretFiles.length, 'secret file'),
    ...countOf(domains.length, 'domain', ' to be set'),
  ]
  return [clean`  + ${service.type} ${name}, like ${service.name}${has.length === 0 ? '' : `: ${has.join(', ')}`}`, ...linked]
}

const countOf = (count: number, what: string, then = ''): string[] =>
  count === 0 ? [] : [`${count === 1 ? `1 ${what}` : `${count} ${what}s`}${then}`]
