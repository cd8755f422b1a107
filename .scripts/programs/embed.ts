import { resolve } from 'node:path'
import type { BunPlugin } from 'bun'
import type { PackedProgram } from './programs.ts'

/** Puts the archives into an executable, and their list in place of the one that a checkout has. */
export const embedPrograms = (programs: readonly PackedProgram[]): BunPlugin => ({
  name: 'embed-programs',
  setup(build) {
    build.onLoad({ filter: /[/\\]runtime[/\\]programs[/\\]embedded\.ts$/ }, () => ({ contents: listOf(programs), loader: 'ts' }))
  },
})

function listOf(programs: readonly PackedProgram[]): string {
  const imports = programs.map(
    ({ archive }, index) => `import archive${index} from ${JSON.stringify(resolve(archive))} with { type: 'file' }`,
  )
  const rows = programs.map(
    ({ kind, name, version }, index) => `{ ...${JSON.stringify({ kind, name, version })}, archive: archive${index} }`,
  )
  return [...imports, `export const embedded = [${rows.join(', ')}]`].join('\n')
}
