import { existsSync, globSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { DEFAULT_TOOLCHAIN_PATH } from '../../server/builders/toolchains/toolchains.ts'
import { runProcess } from '../../server/platform/process/spawn.ts'
import { type Executables, ownEnv } from './compiled.ts'

export interface BareMachine {
  executables: Executables
  /** The whole environment of `cpd` there. */
  env: Record<string, string>
  remove(): void
}

const realFolders = (paths: readonly string[]): string[] => [...new Set(paths.filter(existsSync).map((path) => realpathSync(path)))]

const SYSTEM = realFolders(['/usr/bin', '/usr/sbin', '/bin', '/sbin'])
const EMPTIED = realFolders(DEFAULT_TOOLCHAIN_PATH.flatMap((pattern) => globSync(pattern))).filter((folder) => !SYSTEM.includes(folder))

/** The system's folders come last: the first of them holds `mount`. */
const ENTER = `set -eu
while [ "$1" != -- ]; do
  mount --bind "$1" "$2"
  shift 2
done
shift
exec "$@"
`

/**
 * This machine for `cpd` and all that it starts as one that holds these programs and no others, with nothing wherever `cpd` looks for toolchains,
 * and with an empty home. Root alone can make it, as mounts that go with the last process that sees them.
 */
export async function openBareMachine(programs: readonly string[]): Promise<BareMachine> {
  const dir = mkdtempSync(join(tmpdir(), 'cpd-bare-'))
  const folder = (name: string): string => {
    mkdirSync(join(dir, name))
    return join(dir, name)
  }
  const [nothing, home] = [folder('nothing'), folder('home')]
  const shown = EMPTIED.flatMap((emptied) => [nothing, emptied])
  for (const [index, system] of SYSTEM.entries()) {
    const filled = folder(`programs-${index}`)
    const there = programs.map((name) => join(system, name)).filter(existsSync)
    if (there.length > 0) await runProcess(['cp', '-L', '--preserve=mode', '-t', filled, ...there])
    shown.push(filled, system)
  }
  const script = join(dir, 'enter')
  writeFileSync(script, ENTER)
  const cpd = join(dir, 'cpd')
  const command = ['unshare', '--mount', '--propagation', 'private', '/bin/sh', script, ...shown, '--', resolve('dist/cpd')]
  writeFileSync(cpd, `#!/bin/sh\nexec ${command.join(' ')} "$@"\n`, { mode: 0o755 })
  return {
    executables: { cpd, cpctl: resolve('dist/cpctl') },
    env: { ...ownEnv(), PATH: SYSTEM.join(':'), HOME: home },
    remove: () => rmSync(dir, { recursive: true, force: true }),
  }
}
