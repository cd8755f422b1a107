import type { LogType } from '../../../shared/log.ts'
import { describeError } from '../../platform/server-log.ts'
import type { AppContext } from '../context.ts'
import { releaseSecrets } from '../deploys/release-store.ts'
import { deployById } from '../deploys/store.ts'
import { withoutSecrets } from '../launch/last-words.ts'
import { serviceById } from '../services/store.ts'
import { secretsForRelease, type VariableContext } from '../variables/resolved.ts'
import type { StoredItem } from './item-store.ts'

const MOST_LINES = 15
const MOST_LINE_CHARS = 300
const MICROSECONDS = 1000

/** The last words may be read from the output a moment after the end is known. */
const SETTLED_MS = 2000

type ExcerptContext = VariableContext & Pick<AppContext, 'logStore' | 'log'>

/** The last lines of what failed, without the secrets of its release. None where nothing was written, or it cannot be read. */
export async function lastLinesOf(
  context: ExcerptContext,
  { serviceId, logInstance, deployId, happenedAt }: StoredItem,
): Promise<string[]> {
  if (serviceId === null || logInstance === null) return []
  try {
    const endAt = (happenedAt + SETTLED_MS) * MICROSECONDS
    const filter = { resource: [serviceId], instance: [logInstance], type: ['app', 'build'] as LogType[], endAt }
    const { logs } = await context.logStore.query({ ...filter, direction: 'backward', limit: MOST_LINES })
    const secrets = secretsOf(context, { serviceId, deployId })
    const texts = logs.toReversed().map(({ message }) => withoutSecrets(message, secrets).slice(0, MOST_LINE_CHARS))
    return texts.filter((text) => text.trim() !== '')
  } catch (error) {
    context.log.error('last lines not read', { serviceId, ...describeError(error) })
    return []
  }
}

/** The secrets of releases that may have run, and of now, with which a build runs. */
function secretsOf(context: ExcerptContext, { serviceId, deployId }: { serviceId: string; deployId: string | null }): string[] {
  const service = serviceById(context.db, serviceId)
  const ids = [deployId, service?.liveDeployId ?? null].filter((id) => id !== null)
  const releases = new Set(ids.map((id) => deployById(context.db, id)?.releaseId).filter((id) => id != null))
  const all = [...releases].map((id) => releaseSecrets(context, id))
  if (service !== undefined) all.push(secretsForRelease(context, service))
  return all.flatMap(({ envVars, secretFiles }) => [...envVars.map(({ value }) => value), ...secretFiles.map(({ content }) => content)])
}
