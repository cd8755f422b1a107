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

export interface FoundRepositories {
  found: FoundRepository[]
  /** Installations whose repositories are not among them, as their hosts do not list them now. */
  unavailable: { installation: StoredInstallation; error: AppError }[]
}

interface Asking {
  open(installation: StoredInstallation): SourceHost
  signal: AbortSignal
}

/** Repositories of some installations in the order that their hosts have them in. What one host refuses keeps nothing of the others back. */
export async function searchRepositories(
  installations: readonly StoredInstallation[],
  search: RepositorySearch,
  asking: Asking,
): Promise<FoundRepositories> {
  const { after, limit } = search
  const all: FoundRepositories = { found: [], unavailable: [] }
  const left = { pages: MAX_PAGES }
  for (const installation of installations.filter(({ id }) => after === undefined || id >= after.installationId)) {
    if (all.found.length >= limit) break
    try {
      for await (const one of repositoriesOf(installation, { search, asking, left })) all.found.push(one)
    } catch (error) {
      asking.signal.throwIfAborted()
      if (!(error instanceof AppError)) throw error
      all.unavailable.push({ installation, error })
    }
  }
  return { ...all, found: all.found.slice(0, limit) }
}

async function* repositoriesOf(
  installation: StoredInstallation,
  { search: { after, search, limit }, asking, left }: { search: RepositorySearch; asking: Asking; left: { pages: number } },
): AsyncGenerator<FoundRepository> {
  const host = asking.open(installation)
  const next = after?.installationId === installation.id ? after.index + 1 : 0
  let given = 0
  for (let index = next, isLast = false; !isLast && given < limit && left.pages > 0; left.pages -= 1) {
    const page = await host.repositories(Math.floor(index / REPOSITORIES_PER_PAGE) + 1, asking.signal)
    const skipped = index % REPOSITORIES_PER_PAGE
    for (const [at, repository] of page.repositories.slice(skipped).entries()) {
      if (!matches(repository, search)) continue
      given += 1
      yield { installation, repository, index: index + at }
    }
    index += REPOSITORIES_PER_PAGE - skipped
    isLast = page.isLast
  }
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
