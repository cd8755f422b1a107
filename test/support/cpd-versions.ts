import { readFileSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'
import type { BunPlugin } from 'bun'
import { embedPrograms } from '../../.scripts/programs/embed.ts'
import { packedIn } from '../../.scripts/programs/programs.ts'
import { copyExecutable } from './copy-executable.ts'

export interface CpdBuild {
  outfile: string
  version: string
  entry?: string
  define?: Record<string, string>
  /** More files that are something else in this version, by the end of their path. */
  changed?: Record<string, string>
}

/** Compiles `cpd` as another version of itself, as the build does: without bytecode each of its many processes takes twice as long to start. */
export async function buildCpd({ outfile, version, entry = 'server/boot/main.ts', define = {}, changed = {} }: CpdBuild): Promise<string> {
  const built = `${outfile}.built`
  const result = await Bun.build({
    entrypoints: [resolve(entry)],
    compile: { outfile: built, autoloadDotenv: false, autoloadBunfig: false },
    minify: true,
    bytecode: true,
    format: 'cjs',
    define,
    plugins: [otherVersion(version, changed), embedPrograms(packedIn('dist/programs'))],
  })
  if (!result.success) throw new Error(`cpd ${version} was not built: ${result.logs.join('\n')}`)
  await copyExecutable(built, outfile)
  rmSync(built)
  return outfile
}

const otherVersion = (version: string, changed: Record<string, string>): BunPlugin => ({
  name: 'other-version',
  setup(build) {
    const own = resolve('package.json')
    build.onLoad({ filter: /[/\\]package\.json$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8')
      return { contents: path === own ? JSON.stringify({ ...JSON.parse(text), version }) : text, loader: 'json' }
    })
    for (const [end, contents] of Object.entries(changed)) {
      build.onLoad({ filter: new RegExp(`${RegExp.escape(end)}$`) }, () => ({ contents, loader: end.endsWith('.sql') ? 'text' : 'ts' }))
    }
  },
})
