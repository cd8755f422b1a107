/** Compiles the two executables into dist/: `cpd` (control plane and ingress) and `cpctl`. */
import { mkdir } from 'node:fs/promises'
import type { BunPlugin } from 'bun'
import { embedPrograms } from './programs/embed.ts'
import { programsIn } from './programs/programs.ts'

await mkdir('dist', { recursive: true })
await compile('server/boot/main.ts', 'dist/cpd', [embedPrograms(await programsIn('dist/programs'))])
await compile('cli/main.ts', 'dist/cpctl')

/** With bytecode, for a tenth more of size: less than half of the time to start, and a tenth less memory of `cpd serve` and its ingress. */
async function compile(entry: string, outfile: string, plugins: BunPlugin[] = []): Promise<void> {
  const result = await Bun.build({
    entrypoints: [entry],
    plugins,
    compile: { outfile, autoloadDotenv: false, autoloadBunfig: false },
    minify: true,
    bytecode: true,
    format: 'cjs',
  })
  for (const message of result.logs) console.error(message)
  if (!result.success) process.exit(1)
  console.log(`${outfile}  ${(Bun.file(outfile).size / 1024 / 1024).toFixed(1)} MiB`)
}
