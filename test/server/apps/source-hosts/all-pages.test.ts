import { describe, expect, test } from 'vitest'
import { allPages } from '../../../../server/apps/source-hosts/providers/all-pages.ts'

/** A host that gives so many at a time, whatever it is asked for. */
const hostWith = (count: number, perPage: number) => {
  const asked: number[] = []
  const all = Array.from({ length: count }, (_, at) => at)
  const page = async (number: number) => {
    asked.push(number)
    return all.slice((number - 1) * perPage, number * perPage)
  }
  return { asked, all, page }
}

describe('what a host lists page by page is read', () => {
  test('up to the first page with room left', async () => {
    const { asked, all, page } = hostWith(250, 100)
    expect(await allPages(100, page)).toEqual(all)
    expect(asked).toEqual([1, 2, 3])
  })

  test('whole, though the host gives less at a time than it was asked for', async () => {
    const { all, page } = hostWith(70, 30)
    expect(await allPages(1, page)).toEqual(all)
  })

  test('not at all where it does not end: a part is not taken for the whole', async () => {
    const { asked, page } = hostWith(100_000, 100)
    await expect(allPages(100, page)).rejects.toMatchObject({ code: 'payload_too_large' })
    expect(asked).toHaveLength(10)
  })
})
