import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { AppError } from '../../../../shared/error.ts'
import { statBeneath } from '../../../platform/files/tree/beneath.ts'
import { ensureFolder } from '../../../platform/service-folders.ts'
import { shellWord } from '../../shell-word.ts'
import { Unfetched } from '../registry/download.ts'
import { ARCHIVE, fetchNpm, fetchPackage, type PackageFetch } from './fetch-package.ts'
import { isModernYarn, type ManagerHash, type ManagerPin } from './manager-pin.ts'

interface ManagerFetch extends PackageFetch {
  pin: ManagerPin
}

/** Lays a package manager out with its programs in `bin`. @throws AppError `bad_request` where it has another hash than is asked for. */
export async function fetchManager(into: string, { pin, ...fetching }: ManagerFetch): Promise<void> {
  const modules = join(into, 'lib/node_modules')
  if (pin.name === 'npm') await fetchNpm(into, fetching)
  else {
    const fetched = join(dirname(into), 'manager')
    await fetchPackage(fetched, fetching)
    for (const folder of [into, join(into, 'bin'), join(into, 'lib'), modules]) await ensureFolder(folder, 0o755, { uid: 0, gid: 0 })
    await rename(fetched, join(modules, pin.name))
    await writePrograms(into, pin)
  }
  if (pin.hash !== undefined) await requireHash(hashedFile(into, pin), pin, pin.hash)
}

/** Corepack hashes the archive, but of Yarn 2 and later the program that is in it. */
const hashedFile = (into: string, pin: ManagerPin): string =>
  isModernYarn(pin) ? join(into, 'lib/node_modules/yarn/bin/yarn.js') : join(dirname(into), ARCHIVE)

async function requireHash(file: string, { name, version }: ManagerPin, { algorithm, hex }: ManagerHash): Promise<void> {
  const hash = createHash(algorithm)
  await pipeline(createReadStream(file), hash)
  const found = hash.digest('hex')
  if (found === hex) return
  const problem = `packageManager in package.json names ${name} ${version} with the hash ${algorithm}.${hex}, and the one that is published has ${algorithm}.${found}`
  throw new AppError('bad_request', `${problem}: if the version is meant, run "corepack use ${name}@${version}", and deploy again`)
}

const Manifest = Type.Object({ bin: Type.Record(Type.String({ pattern: '^[a-z]+$' }), Type.String()) })

/** Scripts that start Node.js themselves: what a package holds need not be executable, and root changes no mode of it. */
async function writePrograms(into: string, { name, version }: ManagerPin): Promise<void> {
  const root = join(into, 'lib/node_modules', name)
  const manifest: unknown = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  if (!Value.Check(Manifest, manifest)) throw new Unfetched(`${name} ${version} names no programs`)
  for (const [program, path] of Object.entries(manifest.bin)) {
    const found = statBeneath(root, path)
    if (found.kind !== 'file') throw new Unfetched(`${name} ${version} lacks its program ${JSON.stringify(path)}`)
    const script = `#!/bin/sh\nexec node "\${0%/*}"/../lib/node_modules/${name}/${shellWord(found.realPath)} "$@"\n`
    await writeFile(join(into, 'bin', program), script, { mode: 0o755 })
  }
}
