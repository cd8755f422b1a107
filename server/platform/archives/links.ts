import { refuseArchive, refuseEntry } from './rules.ts'

export type TreeNode = 'directory' | 'file' | { linkTo: string }

/** Linux follows this many links before it answers ELOOP. */
const MAX_LINKS_FOLLOWED = 40
/** Names along the ways of all links of an archive together: those of thousands of packages have some hundred thousand. */
const MAX_STEPS = 2_000_000

/**
 * Follows every link of the finished tree the way the kernel would and refuses the archive when one leaves the root
 * at any step, even if a later step came back. Links are looked at last and together, because what one
 * means depends on the others. A link to nothing is allowed (a build may make its target), climbing through it is not.
 */
export function checkLinks(nodes: ReadonlyMap<string, TreeNode>): void {
  let steps = 0
  for (const [path, node] of nodes) {
    if (typeof node === 'object') steps += followLink(path, nodes)
    if (steps > MAX_STEPS) throw refuseArchive('its links lead through too many others')
  }
}

function followLink(path: string, nodes: ReadonlyMap<string, TreeNode>): number {
  const reached: string[] = []
  const pending = path.split('/').reverse()
  let followed = 0
  let steps = 0
  for (let segment = pending.pop(); segment !== undefined; segment = pending.pop()) {
    steps += 1
    if (segment === '' || segment === '.') continue
    if (segment === '..') {
      if (reached.pop() === undefined) throw refuseEntry(path, 'is a link that leaves the archive')
      continue
    }
    reached.push(segment)
    const node = nodes.get(reached.join('/'))
    if (typeof node !== 'object') continue
    if (node.linkTo.startsWith('/')) throw refuseEntry(path, 'is a link to an absolute path')
    followed += 1
    if (followed > MAX_LINKS_FOLLOWED) throw refuseEntry(path, 'is a link that leads in a circle')
    reached.pop()
    pending.push(...node.linkTo.split('/').reverse())
  }
  return steps
}
