import { AppError } from '../../../shared/error.ts'
import type { ManagerHash, ManagerPin } from '../toolchains/node/manager-pin.ts'

const PIN = /^(npm|pnpm|yarn)@(\d{1,6}\.\d{1,6}\.\d{1,6}(?:-[\w.]{1,60})?)(?:\+(.*))?$/

/** Hashes that Corepack writes and reads, with the digits of each (https://github.com/nodejs/corepack). */
const digitsOf: Readonly<Record<string, number>> = { sha1: 40, sha224: 56, sha256: 64, sha384: 96, sha512: 128 }

/** The very version that `packageManager` names; undefined where that is absent, or means none that is fetched. @throws AppError `bad_request` for a hash that is none. */
export function parsePin(packageManager: string | undefined): ManagerPin | undefined {
  const [, name, version, hash] = PIN.exec(packageManager ?? '') ?? []
  if (name === undefined || version === undefined) return undefined
  const pin = { name: name as ManagerPin['name'], version }
  return hash === undefined ? pin : { ...pin, hash: parseHash(hash, pin) }
}

function parseHash(written: string, { name, version }: ManagerPin): ManagerHash {
  const [, algorithm = '', hex = ''] = /^(sha\d+)\.([0-9a-f]+)$/.exec(written) ?? []
  if (hex !== '' && hex.length === digitsOf[algorithm]) return { algorithm, hex }
  const remedy = `run "corepack use ${name}@${version}", which writes it, or leave it out`
  throw new AppError('bad_request', `packageManager in package.json ends with a hash that is none: ${remedy}, and deploy again`)
}
