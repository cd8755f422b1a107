import { expect, test } from 'vitest'
import { checkLinks, type TreeNode } from '../../../../server/platform/archives/links.ts'

const HOPS = 39
const DETOUR = 'a/../'.repeat(200)

/** Each as long a way as Linux would follow, by the longest targets. */
const chains = (count: number) =>
  new Map<string, TreeNode>(
    Array.from({ length: count * HOPS }, (_, index) => {
      const [chain, hop] = [Math.floor(index / HOPS), index % HOPS]
      return [`link-${chain}-${hop}`, { linkTo: `${DETOUR}link-${chain}-${hop + 1}` }]
    }),
  )

test('links may lead through others, as long as all together do not take minutes to follow', () => {
  expect(() => checkLinks(chains(2))).not.toThrow()
  expect(() => checkLinks(chains(700))).toThrow('The archive was refused: its links lead through too many others')
})
