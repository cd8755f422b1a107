/** Which checksum database vouches for modules, by GOSUMDB, GONOSUMDB and GOPRIVATE (https://go.dev/ref/mod#environment-variables). */
import { createHash } from 'node:crypto'
import { Unfetched } from '../registry/download.ts'
import type { BuildEnv } from '../registry/way.ts'

export interface SumDb {
  name: string
  /** The first bytes of a hash over name and key, which signatures name their key by. */
  keyHash: Buffer
  key: Buffer
  url: string
}

/** The key that `go` has built in (https://go.dev/src/cmd/go/internal/modfetch/key.go). */
const GOOGLE_KEY = 'sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8'
const GOOGLE_NAME = 'sum.golang.org'
const MIRROR_IN_CHINA = 'sum.golang.google.cn'
const ED25519 = 1

/** The database that is to be asked for a module; undefined where settings have it not be asked. @throws Unfetched for a setting that names none. */
export function sumDbFor(module: string, env: BuildEnv): SumDb | undefined {
  const [wanted = GOOGLE_NAME, url] = (env.GOSUMDB ?? '').split(/\s+/).filter(Boolean)
  const exempt = env.GONOSUMDB ?? env.GOPRIVATE ?? ''
  if (wanted === 'off' || exempt.split(',').some((pattern) => matchesPrefix(pattern.trim(), module))) return undefined
  if (wanted === MIRROR_IN_CHINA) return parseKey(GOOGLE_KEY, `https://${MIRROR_IN_CHINA}`)
  return parseKey(wanted === GOOGLE_NAME ? GOOGLE_KEY : wanted, url)
}

/** Patterns are of as many parts as they have, and stand for all below. */
function matchesPrefix(pattern: string, module: string): boolean {
  const prefix = module.split('/').slice(0, pattern.split('/').length).join('/')
  return pattern !== '' && new Bun.Glob(pattern).match(prefix)
}

function parseKey(written: string, url: string | undefined): SumDb {
  const [, name = '', hash = '', encoded = ''] = /^([^+\s]+)\+([0-9a-f]{8})\+(.+)$/.exec(written) ?? []
  const bytes = Buffer.from(encoded, 'base64')
  const keyHash = createHash('sha256').update(`${name}\n`).update(bytes).digest().subarray(0, 4)
  if (bytes.length !== 33 || bytes[0] !== ED25519 || keyHash.toString('hex') !== hash)
    throw new Unfetched('GOSUMDB names no checksum database that can be checked: set it to sum.golang.org, to name+hash+key, or to off')
  return { name, keyHash, key: bytes.subarray(1), url: (url ?? `https://${name}`).replace(/\/+$/, '') }
}
