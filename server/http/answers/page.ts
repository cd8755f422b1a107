import { AppError } from '../../../shared/error.ts'
import { pageItems } from '../../../shared/schema.ts'

export const DEFAULT_PAGE_ITEMS = pageItems.default

export type Position = readonly (string | number)[]

export const encodeCursor = (position: Position): string => Buffer.from(JSON.stringify(position)).toString('base64url')

/** @throws AppError `validation_failed` for text that no list of this kind gave out. */
export function decodeCursor(cursor: string | undefined, types: readonly ('string' | 'number')[]): Position | undefined {
  if (cursor === undefined) return undefined
  const position = parsed(cursor)
  const fits = Array.isArray(position) && position.length === types.length && types.every((type, index) => typeof position[index] === type)
  if (!fits) {
    throw new AppError('validation_failed', 'The cursor is not one that this list gave out. Leave it out to begin at the first page.', {
      details: [{ path: '/cursor', message: 'is not a cursor of this list' }],
    })
  }
  return position as Position
}

export interface IdPage {
  beforeId: string | undefined
  limit: number
}

/** The page that is asked for of a list in order of ids. @throws AppError as `decodeCursor`. */
export const idPageOf = ({ cursor, limit = DEFAULT_PAGE_ITEMS }: { cursor?: string; limit?: number }): IdPage => ({
  beforeId: idAfter(cursor),
  limit,
})

export const idAfter = (cursor: string | undefined): string | undefined => decodeCursor(cursor, ['string'])?.[0] as string | undefined

export function pageOf<const N extends string, T>(
  name: N,
  items: readonly T[],
  positionOf: (item: T) => Position,
): ({ [K in N]: T } & { cursor: string })[] {
  return items.map((item) => ({ [name]: item, cursor: encodeCursor(positionOf(item)) }) as { [K in N]: T } & { cursor: string })
}

function parsed(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'))
  } catch {
    return undefined
  }
}
