import { maxEnvGroups, maxGroupChars, maxGroupFileChars, maxLinkedGroups } from '../../../shared/env-group.ts'
import { AppError } from '../../../shared/error.ts'
import type { EnvEntry, SecretFileEntry } from '../services/env-store.ts'
import { refuseTooMany } from '../variables/rules.ts'

const MAX_FILES = 100

export function refuseLargeGroup(entries: readonly EnvEntry[]): void {
  refuseTooMany(entries.length)
  const chars = entries.reduce((sum, { key, value }) => sum + key.length + value.length, 0)
  if (chars > maxGroupChars)
    throw new AppError(
      'validation_failed',
      `The variables of the group would have ${chars} characters together, of which there may be ${maxGroupChars}. What is long belongs in a secret file.`,
    )
}

export function refuseLargeFiles(files: readonly Pick<SecretFileEntry, 'content'>[]): void {
  if (files.length > MAX_FILES)
    throw new AppError('validation_failed', `These would be ${files.length} secret files; there may be ${MAX_FILES}.`)
  const chars = files.reduce((sum, { content }) => sum + content.length, 0)
  if (chars > maxGroupFileChars)
    throw new AppError(
      'validation_failed',
      `The secret files of the group would have ${chars} characters together, of which there may be ${maxGroupFileChars}.`,
    )
}

export function refuseTooManyGroups(count: number): void {
  if (count >= maxEnvGroups)
    throw new AppError('conflict', `The workspace has ${count} env groups, the most there can be. Delete one that is not used.`)
}

export function refuseTooManyLinks({ name }: { name: string }, count: number): void {
  if (count >= maxLinkedGroups)
    throw new AppError('conflict', `${name} is linked to ${count} env groups, the most there can be. Take one from it first.`)
}

/** Whether a service can be linked to a group: anywhere, in the group's project, or in its environment. */
export const fits = (
  group: { environmentId: string | null; projectId: string | null },
  place: { environmentId: string | null; projectId: string | null },
): boolean =>
  (group.environmentId === null || group.environmentId === place.environmentId) &&
  (group.projectId === null || group.projectId === place.projectId)
