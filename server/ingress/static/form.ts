import type { Coding } from './encoding.ts'
import { isKept, NOT_WORTH_IT, type SiteFile, type StaticFiles } from './files.ts'
import type { Pieces } from './pieces.ts'

/** The form in which a file is sent: as it is, or compressed. */
export interface Form {
  coding: Coding
  sizeBytes: number
  /** Undefined when it is to be read while it is sent, as it is. */
  pieces: Pieces | undefined
}

export interface Wanted {
  /** Best first; the last one is `identity`. */
  codings: readonly Coding[]
  /** Whether all of the file is likely to be sent: else it is not worth reading into memory. */
  isWhole: boolean
}

/** The form a client likes best, when that can be told from what is in memory. */
export function keptForm(files: StaticFiles, file: SiteFile, { codings, isWhole }: Wanted): Form | undefined {
  for (const coding of codings) {
    const pieces = files.kept(file, coding)
    if (pieces === NOT_WORTH_IT) continue
    if (pieces !== undefined) return { coding, sizeBytes: pieces.sizeBytes, pieces }
    return coding === 'identity' && !(isWhole && isKept(file)) ? asItIs(file, undefined) : undefined
  }
  return undefined
}

/** The form a client likes best. */
export async function loadForm(files: StaticFiles, file: SiteFile, { codings, isWhole }: Wanted): Promise<Form> {
  for (const coding of codings) {
    if (coding === 'identity') break
    const pieces = await files.encoded(file, coding)
    if (pieces === undefined) break
    if (pieces !== NOT_WORTH_IT) return { coding, sizeBytes: pieces.sizeBytes, pieces }
  }
  return asItIs(file, isWhole ? await files.content(file) : files.kept(file, 'identity'))
}

const asItIs = (file: SiteFile, pieces: Pieces | undefined): Form => ({ coding: 'identity', sizeBytes: file.sizeBytes, pieces })
