import type { EnvGroup } from '../../shared/env-group.ts'
import type { Environment } from '../../shared/project.ts'
import type { Service } from '../../shared/service.ts'
import { usageError } from '../base/error.ts'
import { type Datastore, missingOf, type PlannedDatastore, planDatastore, type References } from './datastores.ts'
import { type PlannedGroup, type PlannedLink, planGroup, planLinks } from './groups.ts'
import { nameOfCopy, type Renaming } from './names.ts'
import type { Original } from './service-input.ts'

export interface EnvironmentCopy {
  of: { project: string; environment: Environment }
  to: { project: string; environment: string }
  existing: Environment | undefined
  originals: readonly Original[]
  datastores: readonly Datastore[]
}

export interface CopyInput {
  project: { name: string; id: string | undefined }
  copies: readonly EnvironmentCopy[]
  /** Every service, datastore and env group of the workspace that the caller may see: names are unique among them. */
  services: readonly Service[]
  datastores: readonly Datastore[]
  groups: readonly EnvGroup[]
  renaming: Renaming
  isWithValues: boolean
  wholeProject?: string | undefined
}

export interface PlannedService {
  original: Original
  name: string
  existing: Service | undefined
  missing: string[]
  links: PlannedLink[]
}

export interface PlannedEnvironment {
  of: string
  label: string
  name: string
  existing: Environment | undefined
  settings: Pick<Environment, 'protectedStatus' | 'networkIsolationEnabled'>
  datastores: PlannedDatastore[]
  groups: PlannedGroup[]
  services: PlannedService[]
}

export interface CopyPlan {
  project: CopyInput['project']
  groups: PlannedGroup[]
  environments: PlannedEnvironment[]
}

/** What there is to make so that the copies stand. @throws CliError when a name belongs to something elsewhere, or to two copies. */
export function planCopy(input: CopyInput): CopyPlan {
  const references = { ...input, references: referencesOf(input, { isIsolated: false }) }
  const groups = groupsOfProject(input).map((group) => planGroup(group, { projectId: input.project.id }, references))
  const environments = input.copies.map((copy) => environmentOf(copy, groups, input))
  const allGroups = [...groups, ...environments.flatMap((environment) => environment.groups)]
  const services = environments.flatMap((environment) => environment.services)
  const datastores = environments.flatMap((environment) => environment.datastores)
  refuseTwins(services)
  refuseTwins(datastores)
  refuseTwins(allGroups)
  const named = new Set([
    ...services.map(({ original }) => original.service.name),
    ...datastores.map(({ original }) => original.of.name),
    ...allGroups.map(({ original }) => original.name),
  ])
  const unknown = [...input.renaming.chosen.keys()].find((name) => !named.has(name))
  if (unknown !== undefined) throw usageError(`--name ${unknown}: no service, database or env group of this name is copied.`)
  return { project: input.project, groups, environments }
}

/** Services of another project cannot be linked to them, so their copies need their own. */
function groupsOfProject({ project, copies, groups, wholeProject }: CopyInput): EnvGroup[] {
  const used = copies.flatMap(({ originals }) => originals.flatMap(({ groups: linked }) => linked.map(({ id }) => id)))
  return groups.filter(
    ({ id, projectId }) => projectId !== undefined && projectId !== project.id && (projectId === wholeProject || used.includes(id)),
  )
}

/** Variables that refer to what is not copied go with the values, to where it can be reached. */
const referencesOf = ({ copies, isWithValues }: CopyInput, { isIsolated }: { isIsolated: boolean }): References => ({
  copied: new Set(copies.flatMap(({ datastores }) => datastores.map(({ of }) => of.id))),
  keepsOthers: isWithValues && !isIsolated,
})

function environmentOf(
  { of, to, existing, originals, datastores }: EnvironmentCopy,
  ofProject: readonly PlannedGroup[],
  given: CopyInput,
): PlannedEnvironment {
  const { id, protectedStatus, networkIsolationEnabled } = of.environment
  const isIsolated = existing?.networkIsolationEnabled ?? networkIsolationEnabled
  const input = { ...given, references: referencesOf(given, { isIsolated }) }
  const groups = input.groups
    .filter(({ environmentId }) => environmentId === id)
    .map((group) => planGroup(group, { environmentId: existing?.id }, input))
  return {
    of: `${of.project}/${of.environment.name}`,
    label: `${to.project}/${to.environment}`,
    name: to.environment,
    existing,
    // Without values there is nothing to protect in it yet, and whoever fills it in may not hold the right.
    settings: { protectedStatus: input.isWithValues ? protectedStatus : 'unprotected', networkIsolationEnabled },
    datastores: datastores.map((datastore) => planDatastore(datastore, existing, input)),
    groups,
    services: originals.map((original) => serviceOf(original, existing, { ...input, copies: [...ofProject, ...groups] })),
  }
}

type ServiceInput = Omit<CopyInput, 'copies'> & { copies: readonly PlannedGroup[]; references: References }

function serviceOf(original: Original, target: Environment | undefined, input: ServiceInput): PlannedService {
  const { services, renaming, copies } = input
  const name = nameOfCopy(original.service.name, renaming)
  const existing = services.find((service) => service.name === name)
  if (existing !== undefined && (target === undefined || existing.environmentId !== target.id))
    throw usageError(
      `The copy of ${original.service.name} would be named ${name}, as a service elsewhere is.`,
      `Choose its name with --name ${original.service.name}=<name>.`,
    )
  return {
    original,
    name,
    existing,
    missing: existing === undefined ? missingOf(original, input) : [],
    links: planLinks(original.groups, copies, existing),
  }
}

function refuseTwins(planned: readonly { name: string }[]): void {
  const twin = planned.find(({ name }, at) => planned.findIndex((other) => other.name === name) !== at)
  if (twin !== undefined) throw usageError(`Two copies would be named ${twin.name}.`, 'Name one of them with --name <original>=<copy>.')
}
