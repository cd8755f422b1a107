import { AppError } from '../../../../shared/error.ts'

const MAX_PAGES = 10

/**
 * Everything that a host lists, page by page. A page of fewer than `whole` is the last one: 1 where hosts may give less than they were asked
 * for. @throws AppError payload_too_large for a longer list, as a part would be taken for all.
 */
export async function allPages<T>(whole: number, page: (number: number) => Promise<readonly T[]>): Promise<T[]> {
  const found: T[] = []
  for (let number = 1; number <= MAX_PAGES; number += 1) {
    const some = await page(number)
    found.push(...some)
    if (some.length < whole) return found
  }
  throw new AppError('payload_too_large', `There are more of them than the ${found.length} that were read.`)
}
