import { AppError } from '../../../shared/error.ts'
import { diskFull, isDiskFull } from '../files/disk-full.ts'
import { removeTree } from '../files/tree/remove.ts'
import { type ExtractLimits, refuseArchive } from './rules.ts'
import { extractTar } from './tar.ts'
import { type ExtractResult, openExtractTarget } from './target.ts'

export type ArchiveFormat = 'tar.gz' | 'zip'

export interface ExtractOptions {
  path: string
  format: ArchiveFormat
  /** The folder must not exist yet, and its parent must. */
  into: string
  limits: ExtractLimits
  signal?: AbortSignal
}

/** Nothing is written outside `into`, gone after any error. @throws AppError bad_request naming the entry, unavailable on a full disk. */
export async function extractArchive(options: ExtractOptions): Promise<ExtractResult> {
  const { into, signal } = options
  const target = await openExtractTarget({ root: into, limits: options.limits, signal })
  try {
    await unpackers[options.format](options, target)
    return await target.finish()
  } catch (error) {
    await removeTree(into)
    signal?.throwIfAborted()
    throw explain(error)
  }
}

/** Archives of `cpctl` are no zips, whose library many a server never needs. */
const unpackers = {
  'tar.gz': extractTar,
  zip: async (...given: Parameters<typeof extractTar>) => (await import('./zip.ts')).extractZip(...given),
} as const

/** Errors of the system are ours and keep their kind; anything else a parser throws means that the archive is broken. */
function explain(error: unknown): unknown {
  if (error instanceof AppError) return error
  if (isDiskFull(error)) return diskFull(error)
  if (error instanceof Error && 'syscall' in error) return error
  return refuseArchive('it is damaged, cut off or not of the format it claims', error)
}
