import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BunPlugin } from 'bun'
import { CHILDREN_FOLDER } from './children-folder.ts'

type ChildProgram = 'control-plane-child' | 'ingress-child'

/** Where a program of the tests stands: as one file, in a run of tests, since a thousand modules take longer to load than most of these processes live. */
export async function childProgram(name: ChildProgram): Promise<string> {
  const source = fileURLToPath(import.meta.resolve(`./${name}.ts`))
  const folder = process.env[CHILDREN_FOLDER]
  if (folder === undefined) return source
  const bundle = join(folder, `${name}.js`)
  if (!existsSync(bundle)) await bundleInto(folder, { source, name })
  return bundle
}

/** Several workers may do so at once. */
async function bundleInto(folder: string, { source, name }: { source: string; name: string }): Promise<void> {
  const outdir = await mkdtemp(join(folder, 'new-'))
  await Bun.build({ entrypoints: [source], outdir, target: 'bun', minify: true, plugins: [placesOfSources] })
  await rename(join(outdir, `${name}.js`), join(folder, `${name}.js`))
  await rm(outdir, { recursive: true })
}

/** What a module finds beside itself stays where it is. */
const placesOfSources: BunPlugin = {
  name: 'places-of-sources',
  setup(build) {
    build.onLoad(
      { filter: /\/server\/(?:apps|platform|runtime)\/.*\/(?:embedded|programs|pack-isolated|isolated)\.ts$/ },
      async ({ path }) => ({
        contents: (await readFile(path, 'utf8')).replaceAll('import.meta.dirname', JSON.stringify(dirname(path))),
        loader: 'ts',
      }),
    )
    build.onResolve({ filter: /^swagger-ui-dist\// }, ({ path }) => ({ path: fileURLToPath(import.meta.resolve(path)), external: true }))
  },
}
