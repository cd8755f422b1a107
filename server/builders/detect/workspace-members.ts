import { type PackageJson, readPackageJson } from './package-json.ts'
import { type SourceView, viewOf } from './source-view.ts'
import { memberPatterns } from './workspace.ts'
import { isMember, mayHoldMember } from './workspace-patterns.ts'

export interface Member {
  dir: string
  pkg: PackageJson
}

/** Larger workspaces were never seen. Names and patterns are anybody's, and others wait while one is held against the other. */
const MAX_FOLDERS = 1000

export function membersOf(root: SourceView): Member[] {
  const patterns = memberPatterns(root)
  const members: Member[] = []
  const folders = ['']
  for (let at = 0, left = MAX_FOLDERS; at < folders.length && left > 0; at++) {
    const dir = folders[at] ?? ''
    const pkg = dir !== '' && isMember(dir, patterns) ? readPackageJson(viewOf(root, dir)) : undefined
    if (pkg !== undefined) members.push({ dir, pkg })
    const below = foldersIn(root, dir).slice(0, left)
    left -= below.length
    folders.push(...below.filter((path) => mayHoldMember(path, patterns)))
  }
  return members
}

const foldersIn = (root: SourceView, dir: string): string[] => {
  const names = root.folders(dir === '' ? '.' : dir).filter((name) => name !== 'node_modules' && !name.startsWith('.'))
  return names.map((name) => (dir === '' ? name : `${dir}/${name}`))
}

/** The members that a package depends on, directly or not, each after those that it needs itself. */
export function neededBy(pkg: PackageJson, members: readonly Member[]): Member[] {
  const byName = new Map(members.flatMap((member) => (member.pkg.name === undefined ? [] : [[member.pkg.name, member]])))
  const seen = new Set<PackageJson>([pkg])
  const visit = (from: PackageJson): Member[] =>
    [...from.packages].flatMap((name) => {
      const member = byName.get(name)
      if (member === undefined || seen.has(member.pkg)) return []
      seen.add(member.pkg)
      return [...visit(member.pkg), member]
    })
  return visit(pkg).filter((member) => member.pkg.name !== pkg.name)
}
