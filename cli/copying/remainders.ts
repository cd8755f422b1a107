import type { EnvVar } from '../../shared/env.ts'
import type { EnvGroup } from '../../shared/env-group.ts'
import { hostsIn } from '../../shared/named-hosts.ts'
import { clean } from '../terminal/text.ts'
import { referredBy } from './datastores.ts'
import type { CopyPlan, PlannedEnvironment } from './plan.ts'

export function remaindersOf({ groups, environments }: CopyPlan): string[] {
  const allGroups = [...groups, ...environments.flatMap((environment) => environment.groups)]
  const made = environments.flatMap(({ services }) => services.filter(({ existing }) => existing === undefined))
  return [
    ...allGroups.flatMap((group) => lacking({ ...group, envVars: group.original.envVars, commands: groupCommands })),
    ...made.flatMap((service) => lacking({ ...service, envVars: service.original.envVars, commands: serviceCommands })),
    ...made.flatMap(({ name, original: { service, domains } }) =>
      domains.map((domain) => clean`${domain} leads to ${service.name}. A domain of the copy: cpctl domains add ${name} <domain>`),
    ),
    ...namesKept(environments),
  ]
}

interface Lacking {
  name: string
  missing: readonly string[]
  envVars: readonly Pick<EnvVar, 'key'>[]
  commands: { set: string; file: (name: string) => string }
}

const serviceCommands = { set: 'env set', file: (name: string) => `secret-files set <file> --service ${name}` }
const groupCommands = { set: 'env-groups set', file: (name: string) => `env-groups files set ${name} <file>` }

function lacking({ name, missing, envVars, commands }: Lacking): string[] {
  const keys = missing.filter((key) => envVars.some((variable) => variable.key === key))
  const files = missing.filter((file) => !keys.includes(file))
  const [first = ''] = keys
  return [
    ...(keys.length === 0 ? [] : [clean`${name} lacks the values of ${keys.join(', ')}: cpctl ${commands.set} ${name} ${first}=<value> …`]),
    ...(files.length === 0 ? [] : [clean`${name} lacks the contents of ${files.join(', ')}: cpctl ${commands.file(name)}`]),
  ]
}

/** Variables of copies that lead to a service or datastore that was copied, and not to its copy. */
function namesKept(environments: readonly PlannedEnvironment[]): string[] {
  const all = environments.flatMap(({ services }) => services)
  const datastores = environments.flatMap((environment) => environment.datastores.map(({ original }) => original.of))
  const originals = new Map([
    ...all.map(({ original: { service } }) => [service.slug, service.name] as const),
    ...datastores.map(({ id, name }) => [id, name] as const),
  ])
  const made = all.filter(({ existing }) => existing === undefined)
  return [
    ...made.flatMap(({ name, original }) =>
      original.envVars.flatMap((variable) => {
        const named = [...new Set(hostsIn(variable))].flatMap((host) => originals.get(host) ?? [])
        return named.map((used) => clean`${variable.key} of ${name} still names ${used}: cpctl env set ${name} ${variable.key}=<value>`)
      }),
    ),
    ...made.flatMap(({ name, links }) =>
      links.flatMap(({ group, copy }) => (copy === undefined ? toldByGroup(name, group, originals) : [])),
    ),
  ]
}

const toldByGroup = (name: string, group: EnvGroup, originals: ReadonlyMap<string, string>): string[] =>
  group.envVars.flatMap((variable) => {
    const used = originals.get(referredBy(variable) ?? '')
    return used === undefined
      ? []
      : [clean`${variable.key} of the env group ${group.name}, which ${name} has as well, says how to reach ${used}`]
  })
