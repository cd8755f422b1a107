import { AppError } from '../../../../shared/error.ts'
import type { Repository } from './command.ts'
import { askGit, runBeside, runGit } from './run.ts'

/** Each push leaves a pack, and refused ones leave objects that nothing leads to. */
const MOST_PACKS = 20
const KIB = 1024

interface Held {
  bytes: number
  packs: number
}

export function heldIn(counted: string): Held {
  const of = (name: string) => Number(new RegExp(`^${name}: (\\d+)$`, 'm').exec(counted)?.[1] ?? 0)
  return { bytes: (of('size') + of('size-pack') + of('size-garbage')) * KIB, packs: of('packs') }
}

const measure = async (repository: Repository, signal: AbortSignal): Promise<Held> =>
  heldIn(await runGit(repository, ['count-objects', '-v'], { signal }))

/**
 * How many bytes more may be pushed. Packs are put together where that is due; nothing else may write to the repository meanwhile.
 * @throws AppError payload_too_large where its history is as large as it may be.
 */
export async function makeRoom(repository: Repository, maxBytes: number, signal: AbortSignal): Promise<number> {
  const before = await measure(repository, signal)
  const isDue = before.packs >= MOST_PACKS || before.bytes >= maxBytes
  // Where it cannot be tidied, what it holds still says what fits.
  if (isDue) await askGit(repository, { args: ['gc', '--quiet', '--prune=now'] }, { signal })
  const { bytes } = isDue ? await measure(repository, signal) : before
  if (bytes < maxBytes) return maxBytes - bytes
  throw new AppError(
    'payload_too_large',
    `The history of this service has the ${Math.floor(maxBytes / KIB / KIB)} MiB that it may have (CP_GIT_MAX_MB). Delete branches and tags that are not needed, or push a shorter history.`,
  )
}

const INCOMING = ['-maxdepth', '1', '-name', 'tmp_objdir-*']

/** Removes what pushes have brought that were ended in the middle: git, told to end, leaves it. No push may be under way. */
export const clearIncoming = (repository: Repository, signal: AbortSignal): Promise<void> =>
  runBeside(repository, ['find', 'objects', ...INCOMING, '-exec', 'rm', '-rf', '{}', '+'], { signal })
