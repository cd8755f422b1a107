import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { copyExecutable } from './copy-executable.ts'
import { buildCpd } from './cpd-versions.ts'

/** Versions of `cpd` in a folder of their own, one of them installed. */
export interface Upgradable {
  home: string
  /** What runs, and what upgrades replace. */
  installed: string
  cpctl: string
  first: string
  second: string
  /** Passes every check and is no good as a server. */
  broken: string
  /** In which way: one that test/fixtures/cpd/broken.ts knows. */
  breakBy(how: string): void
  upgradeCommand(file: string, dataDir: string, ...flags: string[]): string[]
  remove(): void
}

export const [FIRST, SECOND, BROKEN] = ['7.0.1', '7.0.2', '7.0.3'] as const

/** Compiles three versions and installs the first. */
export async function makeUpgradable(): Promise<Upgradable> {
  const home = mkdtempSync(join(tmpdir(), 'cpd-upgrade-'))
  const at = (name: string) => join(home, name)
  const installed = at('cpd')
  const first = await buildCpd({ outfile: at('first'), version: FIRST })
  const second = await buildCpd({ outfile: at('second'), version: SECOND })
  const broken = await buildCpd({ outfile: at('broken'), version: BROKEN, entry: 'test/fixtures/cpd/broken.ts' })
  await copyExecutable(first, installed)
  const breakBy = (how: string) => writeFileSync(at('how'), how)
  breakBy('crashes')
  return {
    home,
    installed,
    cpctl: resolve('dist/cpctl'),
    first,
    second,
    broken,
    breakBy,
    upgradeCommand: (file, dataDir, ...flags) => [installed, 'upgrade', file, '--data', dataDir, '--yes', '--json', ...flags],
    remove: () => rmSync(home, { recursive: true, force: true }),
  }
}
