import { AppError } from '../../../shared/error.ts'
import { pageItems } from '../../../shared/schema.ts'

export const DEFAULT_PAGE_ITEMS = pageItems.default

/** Where in a list an item stands: its sort keys, outermost first, such as `[createdAt, id]` or `[id]`. */
export type Position = readonly (string | number)[]

/** The opaque text of a position. */
export const encodeCursor = (position: Position): string => Buffer.from(JSON.stringify(position)).toString('base64url')

/**
 * The position a cursor stands for; undefined for no cursor.
 *
 * @param types of the sort keys, in order.
 * @throws AppError `validation_failed` for text that no list of this kind gave out.
 */
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

/** The id after which a page begins, in lists that are sorted by id. */
export const idAfter = (cursor: string | undefined): string | undefined => decodeCursor(cursor, ['string'])?.[0] as string | undefined

/** A page as lists send it: each item wrapped under its own name, with the cursor of its position. */
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
