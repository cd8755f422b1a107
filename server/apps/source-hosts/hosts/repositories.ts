import { AppError } from '../../../../shared/error.ts'
import type { HostRepository, SourceHost } from '../port.ts'
import { REPOSITORIES_PER_PAGE } from '../port.ts'
import type { StoredInstallation } from '../store/installations.ts'

/** Pages that one request looks through: hosts do not search what an installation has, and take their time. */
const MAX_PAGES = 20

export interface FoundRepository {
  installation: StoredInstallation
  repository: HostRepository
  index: number
}

export interface RepositorySearch {
  search: string
  limit: number
  after: { installationId: string; index: number } | undefined
}

/** Repositories of some installations in the order that their hosts have them in. @throws AppError as the port's calls, as callers are told it. */
export async function searchRepositories(
  installations: readonly StoredInstallation[],
  { search, limit, after }: RepositorySearch,
  { open, signal }: { open(installation: StoredInstallation): SourceHost; signal: AbortSignal },
): Promise<FoundRepository[]> {
  const found: FoundRepository[] = []
  let pages = 0
  for (const installation of installations.filter(({ id }) => after === undefined || id >= after.installationId)) {
    const next = after?.installationId === installation.id ? after.index + 1 : 0
    for (let index = next, isLast = false; !isLast && found.length < limit && pages < MAX_PAGES; pages++) {
      const page = await toldToCaller(() => open(installation).repositories(Math.floor(index / REPOSITORIES_PER_PAGE) + 1, signal))
      const skipped = index % REPOSITORIES_PER_PAGE
      for (const [at, repository] of page.repositories.slice(skipped).entries())
        if (matches(repository, search)) found.push({ installation, repository, index: index + at })
      index += REPOSITORIES_PER_PAGE - skipped
      isLast = page.isLast
    }
  }
  return found.slice(0, limit)
}

const matches = ({ name }: HostRepository, search: string): boolean => name.toLowerCase().includes(search.toLowerCase())

/** What a host refuses us is no refusal of who asks us. */
export async function toldToCaller<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    if (!(error instanceof AppError) || !['forbidden', 'not_found', 'rate_limited'].includes(error.code)) throw error
    throw new AppError('unavailable', error.message, { cause: error })
  }
}
