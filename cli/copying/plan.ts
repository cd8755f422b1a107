import type { Environment } from '../../shared/project.ts'
import type { Service, ServiceCreate } from '../../shared/service.ts'
import { usageError } from '../base/error.ts'
import { nameOfCopy, type Renaming } from './names.ts'
import { inputOfCopy, type Original } from './service-input.ts'

/** An environment that is copied, and where to: `existing` is there already. */
export interface EnvironmentCopy {
  of: { project: string; environment: Environment }
  to: { project: string; environment: string }
  existing: Environment | undefined
  originals: readonly Original[]
}

export interface CopyInput {
  project: { name: string; id: string | undefined }
  copies: readonly EnvironmentCopy[]
  /** Every service of the workspace that the caller may see: names are unique among them. */
  services: readonly Service[]
  renaming: Renaming
  isWithValues: boolean
}

export interface PlannedService {
  original: Original
  name: string
  /** Undefined where it is to be made. */
  existing: Service | undefined
  /** Keys of variables and names of secret files whose values are not copied. */
  missing: string[]
  input: (environmentId: string) => ServiceCreate
}

export interface PlannedEnvironment {
  of: string
  label: string
  name: string
  existing: Environment | undefined
  settings: Pick<Environment, 'protectedStatus' | 'networkIsolationEnabled'>
  services: PlannedService[]
}

export interface CopyPlan {
  project: CopyInput['project']
  environments: PlannedEnvironment[]
}

/** What there is to make so that the copies stand. @throws CliError when a name belongs to a service elsewhere. */
export function planCopy(input: CopyInput): CopyPlan {
  const originals = input.copies.flatMap((copy) => copy.originals.map(({ service }) => service.name))
  const unknown = [...input.renaming.chosen.keys()].find((name) => !originals.includes(name))
  if (unknown !== undefined) throw usageError(`--name ${unknown}: no service of this name is copied.`)
  const environments = input.copies.map((copy) => environmentOf(copy, input))
  const names = environments.flatMap(({ services }) => services.map(({ name }) => name))
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  if (twice !== undefined) throw usageError(`Two copies would be named ${twice}.`, 'Name one of them with --name <original>=<copy>.')
  return { project: input.project, environments }
}

function environmentOf({ of, to, existing, originals }: EnvironmentCopy, input: CopyInput): PlannedEnvironment {
  const { protectedStatus, networkIsolationEnabled } = of.environment
  return {
    of: `${of.project}/${of.environment.name}`,
    label: `${to.project}/${to.environment}`,
    name: to.environment,
    existing,
    // Without values there is nothing to protect in it yet, and whoever fills it in may not hold the right.
    settings: { protectedStatus: input.isWithValues ? protectedStatus : 'unprotected', networkIsolationEnabled },
    services: originals.map((original) => serviceOf(original, existing, input)),
  }
}

function serviceOf(original: Original, target: Environment | undefined, { services, renaming, isWithValues }: CopyInput): PlannedService {
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
    missing: isWithValues ? [] : [...original.envVars.map(({ key }) => key), ...original.secretFiles.map((file) => file.name)],
    input: (environmentId) => inputOfCopy(original, name, environmentId),
  }
}
