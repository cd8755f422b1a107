import { type PackageJson, readPackageJson } from './package-json.ts'
import type { DetectInput } from './plan.ts'
import { type Wish, wish } from './runtime-notes.ts'
import type { SourceView } from './source-view.ts'

/**
 * Which Node.js is asked for, the first to count: the service's own variable, then the files that name one version, then what a package
 * allows. Render goes by the same order; `volta` pins a version as the files do. A member of a workspace goes before its root.
 */
export function nodeWishes({ files, env = {}, workspace }: DetectInput, pkg: PackageJson): Wish[] {
  const root = workspace && readPackageJson(workspace.files)
  return [
    ...wish('NODE_VERSION', env.NODE_VERSION),
    ...wishesIn(files, pkg),
    ...(workspace && root ? wishesIn(workspace.files, root) : []).map((one) => ({ ...one, source: `${one.source} of the workspace` })),
  ]
}

const wishesIn = (files: SourceView, pkg: PackageJson): Wish[] => [
  ...['.node-version', '.nvmrc'].flatMap((path) => wish(path, files.head(path))),
  ...wish('volta', pkg.volta.node),
  ...wishOfEngine('node', pkg),
]

export const wishOfEngine = (name: 'node' | 'bun', { engines }: PackageJson): Wish[] => wish('engines', engines[name])
