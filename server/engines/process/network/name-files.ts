import { closeSync, constants, existsSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'

/**
 * The names that workloads know, a file for each owner. It is bound over /etc/hosts of running instances, so it is changed in
 * place and with one write: names appear to all of them at once, and nobody reads half a file.
 */
export interface NameFiles {
  /** Undefined for what is in no private network. */
  pathOf(ownerId: string | undefined): string
  update(): Promise<void>
  remove(ownerId: string): void
  /** Without networks told, all of theirs are kept. */
  keepOnly(kept: { owners: ReadonlySet<string>; networks?: ReadonlySet<string> }): void
}

export interface NamedAddress {
  address: string
  names: readonly string[]
}

export interface NameSource {
  networkOf(ownerId: string): string | undefined
  namesIn(networkId: string): readonly NamedAddress[]
  fixed: readonly NamedAddress[]
}

const NOBODYS = 'none'
const OWNERS = 'for-'
/** Earlier versions had a file for each network, and what they started still reads it. */
const NETWORKS = 'of-'

/** A network of a thousand services has a thousand files, each as long as all its names. */
const FILES_AT_ONCE = 25

export function openNameFiles(directory: string, { networkOf, namesIn, fixed }: NameSource): NameFiles {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const written = new Map<string, string>()
  const networkIn = (file: string) => networkNamedIn(file) ?? networkOf(file.slice(OWNERS.length))
  const texts = new Map<string | undefined, string>()
  const textIn = (networkId: string | undefined): string => {
    const text = texts.get(networkId) ?? renderHosts(networkId === undefined ? [] : namesIn(networkId), fixed)
    texts.set(networkId, text)
    return text
  }
  const write = (file: string, text: string) => {
    if (written.get(file) === text) return
    writeInPlace(join(directory, file), text)
    written.set(file, text)
  }
  const remove = (file: string) => {
    rmSync(join(directory, file), { force: true })
    written.delete(file)
  }
  return {
    pathOf(ownerId) {
      const file = ownerId === undefined ? NOBODYS : `${OWNERS}${ownerId}`
      write(file, textIn(ownerId === undefined ? undefined : networkIn(file)))
      return join(directory, file)
    },
    async update() {
      texts.clear()
      for (const [index, file] of readdirSync(directory).entries()) {
        if (index % FILES_AT_ONCE === FILES_AT_ONCE - 1) await nextTurn()
        // A file may have gone with its owner meanwhile.
        if (existsSync(join(directory, file))) write(file, textIn(file === NOBODYS ? undefined : networkIn(file)))
      }
    },
    remove: (ownerId) => remove(`${OWNERS}${ownerId}`),
    keepOnly({ owners, networks }) {
      for (const file of readdirSync(directory)) {
        const network = networkNamedIn(file)
        const isKept = network === undefined ? owners.has(file.slice(OWNERS.length)) : (networks?.has(network) ?? true)
        if (file !== NOBODYS && !isKept) remove(file)
      }
    },
  }
}

const networkNamedIn = (file: string): string | undefined => (file.startsWith(NETWORKS) ? file.slice(NETWORKS.length) : undefined)

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
