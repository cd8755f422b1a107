import { closeSync, constants, existsSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'

/**
 * The names that workloads know, a file for each private network. It is bound over /etc/hosts of running instances, so it is changed in
 * place and with one write: names appear to all of them at once, and nobody reads half a file.
 */
export interface NameFiles {
  pathOf(networkId: string | undefined): string
  write(networks: ReadonlyMap<string, readonly NamedAddress[]>): void
  keepOnly(networkIds: ReadonlySet<string>): void
}

export interface NamedAddress {
  address: string
  names: readonly string[]
}

const NOBODY = 'none'

export function openNameFiles(directory: string, fixed: readonly NamedAddress[] = []): NameFiles {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  let known: ReadonlyMap<string, readonly NamedAddress[]> = new Map()
  const fileOf = (networkId: string | undefined) => join(directory, networkId === undefined ? NOBODY : `of-${networkId}`)
  const update = (networkId: string | undefined) => writeInPlace(fileOf(networkId), renderHosts(known.get(networkId ?? '') ?? [], fixed))
  const present = () => readdirSync(directory).flatMap((name) => (name.startsWith('of-') ? [name.slice('of-'.length)] : []))
  return {
    pathOf: (networkId) => {
      const path = fileOf(networkId)
      if (!existsSync(path)) update(networkId)
      return path
    },
    write: (networks) => {
      known = networks
      for (const networkId of new Set([...present(), ...networks.keys()])) update(networkId)
    },
    keepOnly: (networkIds) => {
      for (const networkId of present()) if (!networkIds.has(networkId)) rmSync(fileOf(networkId), { force: true })
    },
  }
}

/** The form is that of hosts(5). `localhost` is one address only: what an app binds by that name is where its peers look for it. */
export function renderHosts(named: readonly NamedAddress[], fixed: readonly NamedAddress[] = []): string {
  const known = named.map(({ address, names }) => [address, ...names.filter(isPlainName)]).filter(({ length }) => length > 1)
  // A service may be called like the machine, and is what its siblings mean then.
  const own = known.some((words) => words.includes(hostname())) ? '' : ` ${hostname()}`
  const lines = [
    `127.0.0.1 localhost${own}`,
    '::1 ip6-localhost ip6-loopback',
    ...fixed.map(({ address, names }) => [address, ...names].join(' ')),
  ]
  return `${[...lines, ...known.map((words) => words.join(' '))].join('\n')}\n`
}

const isPlainName = (name: string): boolean => /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(name) && !/^(localhost|ip6-.*)$/.test(name)

/** The file never gets shorter, as cutting it would be a second step: what is left over is empty lines. */
export function writeInPlace(path: string, text: string): void {
  const before = existsSync(path) ? readFileSync(path, 'utf8') : ''
  const padded = text.padEnd(before.length, '\n')
  if (padded === before) return
  const descriptor = openSync(path, constants.O_WRONLY | constants.O_CREAT, 0o644)
  try {
    writeSync(descriptor, padded, 0)
  } finally {
    closeSync(descriptor)
  }
}
