/** Compiles the two executables into dist/: `cpd` (control plane and ingress) and `cpctl`. */
import { mkdir } from 'node:fs/promises'

await mkdir('dist', { recursive: true })
await compile('server/main.ts', 'dist/cpd', { bytecode: false })
// Bytecode halves the start of a program that is started for every command.
await compile('cli/main.ts', 'dist/cpctl', { bytecode: true })

async function compile(entry: string, outfile: string, { bytecode }: { bytecode: boolean }): Promise<void> {
  const result = await Bun.build({
    entrypoints: [entry],
    compile: { outfile, autoloadDotenv: false, autoloadBunfig: false },
    minify: true,
    ...(bytecode ? { bytecode, format: 'cjs' as const } : {}),
  })
  for (const message of result.logs) console.error(message)
  if (!result.success) process.exit(1)
  console.log(`${outfile}  ${(Bun.file(outfile).size / 1024 / 1024).toFixed(1)} MiB`)
}
