/** Nobody has more checks of a commit than so many pages hold. */
const MAX_PAGES = 10

/** Everything that a host lists, page by page: the last one has room left. */
export async function allPages<T>(perPage: number, page: (number: number) => Promise<readonly T[]>): Promise<T[]> {
  const found: T[] = []
  for (let number = 1; number <= MAX_PAGES; number += 1) {
    const some = await page(number)
    found.push(...some)
    if (some.length < perPage) break
  }
  return found
}
