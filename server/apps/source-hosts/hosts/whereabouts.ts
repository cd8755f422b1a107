import { AppError, type ErrorCode } from '../../../../shared/error.ts'
import type { Whereabouts, WhereaboutsSource } from '../../repositories/access/whereabouts.ts'
import { type Located, locate } from './credential.ts'
import { type HostContext, ifConfigured } from './open.ts'
import { nameBelow } from './repository-name.ts'

/** What the host of a connected account says of a repository by its name: hosts lead on to where one has been renamed or moved to. */
export const hostWhereabouts =
  (context: HostContext): WhereaboutsSource =>
  async ({ workspaceId, url }, signal) => {
    const located = ifConfigured(() => locate(context, workspaceId, url))
    if (located === undefined) return undefined
    try {
      const { name } = await located.host.repository(located.name, signal)
      return isSame(name, located.name) ? undefined : renamed(located, { name, url })
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof AppError)) throw error
      const advice = advices[error.code]
      return advice === undefined ? undefined : { kind: 'lost', problem: `${located.name}: ${error.message}${advice}` }
    }
  }

const advices: Partial<Record<ErrorCode, string>> = {
  forbidden: '',
  not_found: ' Let the connected account into it, or give the service its URL of now with `cpctl services update --repo`.',
}

/** The URL is put together from the host's own: what an answer names may lead elsewhere. */
function renamed({ installation }: Located, { name, url: before }: { name: string; url: string }): Whereabouts | undefined {
  const url = `${installation.url}/${name}`
  const isName = nameBelow(installation.url, new URL(url)) === name
  return isName ? { kind: 'renamed', url: before.endsWith('.git') ? `${url}.git` : url } : undefined
}

const isSame = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase()
