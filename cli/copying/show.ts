import type { EnvVar } from '../../shared/env.ts'
import { clean } from '../terminal/text.ts'
import type { CopyPlan, PlannedEnvironment, PlannedService } from './plan.ts'

/** A plan in lines for people: what is made with + before it, and what is there and left alone with =. */
export function planInLines({ project, environments }: CopyPlan): string[] {
  const first = project.id === undefined ? [clean`+ project ${project.name}`] : []
  return [...first, ...environments.flatMap(environmentInLines)]
}

function environmentInLines({ label, of, existing, settings, services }: PlannedEnvironment): string[] {
  const traits = [
    ...(settings.protectedStatus === 'protected' ? ['protected'] : []),
    ...(settings.networkIsolationEnabled ? ['isolated'] : []),
  ]
  const having = traits.length === 0 ? '' : `, ${traits.join(' and ')}`
  const head = existing === undefined ? clean`+ environment ${label}, like ${of}${having}` : clean`= environment ${label} is there`
  return [head, ...services.flatMap(serviceInLines)]
}

function serviceInLines({ original: { service, envVars, secretFiles, domains }, name, existing }: PlannedService): string[] {
  if (existing !== undefined) return [clean`  = ${service.type} ${name} is there and is left as it is`]
  const { disk, schedule } = service.serviceDetails
  const has = [
    ...(disk === undefined ? [] : [`an empty disk ${disk.name} of ${disk.sizeGB} GB`]),
    ...(schedule === undefined ? [] : [`the schedule ${schedule}`]),
    ...countOf(envVars.length, 'variable'),
    ...countOf(secretFiles.length, 'secret file'),
    ...countOf(domains.length, 'domain', ' to be set'),
  ]
  return [clean`  + ${service.type} ${name}, like ${service.name}${has.length === 0 ? '' : `: ${has.join(', ')}`}`]
}

const countOf = (count: number, what: string, then = ''): string[] =>
  count === 0 ? [] : [`${count === 1 ? `1 ${what}` : `${count} ${what}s`}${then}`]

/** What is left to do once the copies stand, in lines with the commands for it. */
export function remaindersOf({ environments }: CopyPlan): string[] {
  const made = environments.flatMap(({ services }) => services.filter(({ existing }) => existing === undefined))
  return [
    ...made.flatMap(({ name, original, missing }) => missingOf(name, original.envVars, missing)),
    ...made.flatMap(({ name, original: { service, domains } }) =>
      domains.map((domain) => clean`${domain} leads to ${service.name}. A domain of the copy: cpctl domains add ${name} <domain>`),
    ),
    ...namesKept(environments).map(
      ({ key, copy, original }) => clean`${key} of ${copy} still names ${original}: cpctl env set ${copy} ${key}=<value>`,
    ),
  ]
}

function missingOf(name: string, envVars: readonly EnvVar[], missing: readonly string[]): string[] {
  const keys = missing.filter((key) => envVars.some((variable) => variable.key === key))
  const files = missing.filter((file) => !keys.includes(file))
  return [
    ...(keys.length === 0 ? [] : [clean`${name} lacks the values of ${keys.join(', ')}: cpctl env set ${name} ${keys[0] ?? ''}=<value> …`]),
    ...(files.length === 0
      ? []
      : [clean`${name} lacks the contents of ${files.join(', ')}: cpctl secret-files set <file> --service ${name}`]),
  ]
}

/** Variables of copies whose values lead to a service that was copied, and not to its copy. */
function namesKept(environments: readonly PlannedEnvironment[]): { key: string; copy: string; original: string }[] {
  const all = environments.flatMap(({ services }) => services)
  const originals = all.map(({ original }) => original.service)
  return all
    .filter(({ existing }) => existing === undefined)
    .flatMap(({ name, original }) =>
      original.envVars.flatMap((variable) =>
        originals
          .filter(({ slug }) => namesHost(variable, slug))
          .map((service) => ({ key: variable.key, copy: name, original: service.name })),
      ),
    )
}

/** Whether a variable's value leads to a host, as URLs and `host:port` do. A slug holds nothing that a pattern takes for more. */
export function namesHost({ key, value }: Pick<EnvVar, 'key' | 'value'>, slug: string): boolean {
  return (value === slug && key.includes('HOST')) || new RegExp(`(?:^|//|@|,)${slug}(?=:\\d|[/.,?])|//${slug}$`).test(value)
}
