import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { AppError } from '../../../../shared/error.ts'
import { headBeneath, statBeneath } from '../../../platform/files/tree/beneath.ts'
import { ensureFolder } from '../../../platform/service-folders.ts'
import { shellWord } from '../../shell-word.ts'
import { Unfetched } from '../registry/download.ts'
import { fetchNpm, fetchPackage, type PackageFetch } from './fetch-package.ts'
import { isModernYarn, type ManagerHash, type ManagerPin } from './manager-pin.ts'

interface ManagerFetch extends PackageFetch {
  pin: ManagerPin
}

/** Lays a package manager out with its programs in `bin`. @throws AppError `bad_request` where it has another hash than is asked for. */
export async function fetchManager(into: string, { pin, ...fetching }: ManagerFetch): Promise<void> {
  const { hash } = pin
  // Corepack hashes the archive, but of Yarn 2 and later the program that is in it.
  const check = hash === undefined || isModernYarn(pin) ? {} : { check: (archive: string) => requireHash(archive, pin, hash) }
  if (pin.name === 'npm') return await fetchNpm(into, { ...fetching, ...check })
  const [fetched, modules] = [join(dirname(into), 'manager'), join(into, 'lib/node_modules')]
  await fetchPackage(fetched, { ...fetching, ...check })
  if (hash !== undefined && isModernYarn(pin)) await requireHash(join(fetched, YARN_PROGRAM), pin, hash)
  for (const folder of [into, join(into, 'bin'), join(into, 'lib'), modules]) await ensureFolder(folder, 0o755, { uid: 0, gid: 0 })
  await rename(fetched, join(modules, pin.name))
  await writePrograms(into, pin)
}

const YARN_PROGRAM = 'bin/yarn.js'

async function requireHash(file: string, { name, version }: ManagerPin, { algorithm, hex }: ManagerHash): Promise<void> {
  const hash = createHash(algorithm)
  await pipeline(createReadStream(file), hash)
  const found = hash.digest('hex')
  if (found === hex) return
  const problem = `packageManager in package.json names ${name} ${version} with the hash ${algorithm}.${hex}, and the one that is published has ${algorithm}.${found}`
  throw new AppError('bad_request', `${problem}: if the version is meant, run "corepack use ${name}@${version}", and deploy again`)
}

const MOST_MANIFEST_BYTES = 1024 * 1024
/** A program is written under its name: no other key will do, which the pattern alone lets pass. */
const Manifest = Type.Object({ bin: Type.Record(Type.String({ pattern: '^[a-z]+$' }), Type.String(), { additionalProperties: false }) })

/** Scripts that start Node.js themselves: what a package holds need not be executable, and root changes no mode of it. */
async function writePrograms(into: string, pin: ManagerPin): Promise<void> {
  const { name, version } = pin
  const root = join(into, 'lib/node_modules', name)
  const manifest = parsed(headBeneath(root, 'package.json', MOST_MANIFEST_BYTES)?.toString() ?? '')
  if (!Value.Check(Manifest, manifest)) throw new Unfetched(`${name} ${version} names no programs`)
  for (const [program, path] of Object.entries(manifest.bin)) {
    const found = statBeneath(root, path)
    if (found.kind !== 'file' || (isModernYarn(pin) && found.realPath !== YARN_PROGRAM))
      throw new Unfetched(`${name} ${version} lacks its program ${JSON.stringify(path)}`)
    const script = `#!/bin/sh\nexec node "\${0%/*}"/../lib/node_modules/${name}/${shellWord(found.realPath)} "$@"\n`
    await writeFile(join(into, 'bin', program), script, { mode: 0o755 })
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
