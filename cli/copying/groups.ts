import type { EnvGroup } from '../../shared/env-group.ts'
import { usageError } from '../base/error.ts'
import { missingOf, type References } from './datastores.ts'
import { nameOfCopy, type Renaming } from './names.ts'

export interface PlannedGroup {
  original: EnvGroup
  name: string
  existing: EnvGroup | undefined
  missing: string[]
}

/** A group that the copy of a service is to be linked to: `copy`, or the group itself where that can be linked there. */
export interface PlannedLink {
  group: EnvGroup
  copy: PlannedGroup | undefined
}

export type GroupTarget = { environmentId: string | undefined } | { projectId: string | undefined }

export interface GroupInput {
  groups: readonly EnvGroup[]
  renaming: Renaming
  isWithValues: boolean
  references: References
}

export function planGroup(
  original: EnvGroup,
  target: GroupTarget,
  { groups, renaming, isWithValues, references }: GroupInput,
): PlannedGroup {
  const name = nameOfCopy(original.name, renaming)
  const existing = groups.find((group) => group.name === name)
  if (existing !== undefined && !isAt(existing, target))
    throw usageError(
      `The copy of the env group ${original.name} would be named ${name}, as a group elsewhere is.`,
      `Choose its name with --name ${original.name}=<name>.`,
    )
  return { original, name, existing, missing: existing === undefined ? missingOf(original, { isWithValues, references }) : [] }
}

const isAt = (group: EnvGroup, target: GroupTarget): boolean =>
  'environmentId' in target
    ? target.environmentId !== undefined && group.environmentId === target.environmentId
    : target.projectId !== undefined && group.projectId === target.projectId

export function planLinks(
  linked: readonly EnvGroup[],
  copies: readonly PlannedGroup[],
  existing: { id: string } | undefined,
): PlannedLink[] {
  return linked
    .map((group) => ({ group, copy: copies.find(({ original }) => original.id === group.id) }))
    .filter(({ group, copy }) => {
      const there = copy === undefined ? group : copy.existing
      return existing === undefined || there?.serviceLinks.some(({ id }) => id === existing.id) !== true
    })
}
