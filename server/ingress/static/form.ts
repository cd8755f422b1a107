import type { Coding } from './encoding.ts'
import { isKept, NOT_WORTH_IT, type SiteFile, type StaticFiles } from './files.ts'
import type { Pieces } from './pieces.ts'

export interface Form {
  coding: Coding
  sizeBytes: number
  pieces: Pieces | undefined
}

export interface Wanted {
  codings: readonly Coding[]
  isWhole: boolean
}

export function keptForm(files: StaticFiles, file: SiteFile, { codings, isWhole }: Wanted): Form | undefined {
  for (const coding of codings) {
    const pieces = files.kept(file, coding)
    if (pieces === NOT_WORTH_IT) continue
    if (pieces !== undefined) return { coding, sizeBytes: pieces.sizeBytes, pieces }
    return coding === 'identity' && !(isWhole && isKept(file)) ? asItIs(file, undefined) : undefined
  }
  return undefined
}

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
