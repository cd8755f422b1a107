import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** One file of TypeScript, its path from the layer's folder on. */
export interface Source {
  path: string
  lines: string[]
}

/** Files of a layer in order of their paths. Fixtures are apps of others, and generated text is nobody's. */
export function sourcesIn(layer: string): Source[] {
  const paths = [...new Bun.Glob('**/*.ts').scanSync({ cwd: layer })].filter((path) => !/(^|\/)(fixtures|node_modules)\//.test(path))
  return paths.sort().map((path) => ({ path, lines: readFileSync(join(layer, path), 'utf8').replace(/\n$/, '').split('\n') }))
}
