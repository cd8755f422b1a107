import { open } from 'node:fs/promises'
import { AppError } from '../../../../shared/error.ts'
import { diskFull, isDiskFull } from '../../../platform/files/disk-full.ts'
import { writeAll } from '../../../platform/files/write-all.ts'
import type { BuildEnv, Way } from './way.ts'

/** Something could not be had from where it is published; the message says why, as the end of a sentence. */
export class Unfetched extends Error {}

export interface Fetching {
  env: BuildEnv
  signal: AbortSignal
}

interface Asking {
  way: Way
  signal: AbortSignal
  mostBytes: number
  accept?: string
}

const ATTEMPTS = 3
const PAUSE_MS = 500
/** A registry that sends nothing for so long will not either in the next minute. */
const SILENCE_MS = 30_000

export const fetchText = async (url: URL, options: Asking): Promise<string> => (await fetchBytes(url, options)).toString('utf8')

export async function fetchBytes(url: URL, options: Asking): Promise<Buffer> {
  return await patiently(options.signal, async () => {
    const chunks: Uint8Array[] = []
    for await (const chunk of bytesOf(url, options)) chunks.push(chunk)
    return Buffer.concat(chunks)
  })
}

export interface FileFetch extends Asking {
  into: string
  log(line: string): void
}

/** Streams an archive into a file, for whoever can tell only from what is in it whether it is the right one. @throws as `download` does. */
export async function fetchFile(url: URL, options: FileFetch): Promise<void> {
  await patiently(options.signal, () => store(url, options, 'sha256'))
}

interface Download extends FileFetch {
  integrity: string
}

/** Streams an archive into a file and holds it against its hash. @throws Unfetched; AppError unavailable on a full disk; the signal's reason. */
export async function download(url: URL, options: Download): Promise<void> {
  const algorithm = options.integrity.includes('sha512-') ? 'sha512' : 'sha256'
  const wanted = options.integrity.split(/\s+/).map((one) => one.split('?')[0])
  await patiently(options.signal, async () => {
    const digest = await store(url, options, algorithm)
    if (!wanted.includes(`${algorithm}-${digest}`)) throw new Unfetched(`what ${url.host} sent is not what its list says`)
  })
}

const MB = 1_000_000
const TOLD_EACH_BYTES = 10 * MB

async function store(url: URL, options: FileFetch, algorithm: 'sha256' | 'sha512'): Promise<string> {
  const hash = new Bun.CryptoHasher(algorithm)
  const file = await open(options.into, 'w', 0o600)
  let [bytes, told] = [0, 0]
  try {
    for await (const chunk of bytesOf(url, options)) {
      hash.update(chunk)
      await writeAll(file, chunk)
      bytes += chunk.length
      if (bytes - told < TOLD_EACH_BYTES) continue
      told = bytes
      options.log(`    … ${Math.floor(bytes / MB)} MB`)
    }
  } catch (error) {
    throw isDiskFull(error) ? diskFull(error) : error
  } finally {
    await file.close()
  }
  return hash.digest('base64')
}

async function* bytesOf(url: URL, { way, signal, accept, mostBytes }: Asking): AsyncGenerator<Uint8Array> {
  const silence = new AbortController()
  let kind: typeof Unfetched = Refused
  const isSilent = () => silence.abort(new kind(`${url.host} sent nothing for ${SILENCE_MS / 1000} s`))
  let timer = setTimeout(isSilent, SILENCE_MS)
  try {
    const given = await way(url)
    // What a server packs once more for the way would be unpacked, and no longer be what was hashed.
    const headers = { ...given.headers, ...(accept !== undefined && { accept }), 'accept-encoding': 'identity', 'user-agent': 'cpd' }
    const response = await fetch(withoutCredentials(url), { ...given, headers, signal: AbortSignal.any([signal, silence.signal]) })
    kind = Unfetched
    if (!response.ok)
      throw new (isAbsent(response.status) ? Absent : Refused)(`${url.host} answered ${response.status} for ${url.pathname}`)
    let bytes = 0
    for await (const chunk of response.body ?? []) {
      clearTimeout(timer)
      timer = setTimeout(isSilent, SILENCE_MS)
      bytes += chunk.length
      if (bytes > mostBytes) throw new Refused(`${url.host} sent more than ${mostBytes} bytes for ${url.pathname}`)
      yield chunk
    }
  } finally {
    clearTimeout(timer)
  }
}

/** The way puts them where they belong. */
function withoutCredentials(url: URL): URL {
  const plain = new URL(url)
  plain.username = ''
  plain.password = ''
  return plain
}

/** An answer that will not change when it is asked for again, or none at all in the time in which one comes. */
class Refused extends Unfetched {}

/** Who was asked does not have it. */
export class Absent extends Refused {}

const isAbsent = (status: number): boolean => status === 404 || status === 410

async function patiently<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      signal.throwIfAborted()
      return await work()
    } catch (error) {
      signal.throwIfAborted()
      const problem = explain(error)
      if (!(problem instanceof Unfetched) || problem instanceof Refused || attempt === ATTEMPTS) throw problem
      await Bun.sleep(PAUSE_MS * attempt)
    }
  }
}

/** Errors of the connection have a code, and no words that people understand. */
function explain(error: unknown): unknown {
  if (error instanceof AppError || !(error instanceof Error) || !('code' in error) || 'syscall' in error) return error
  return new Unfetched(`it cannot be reached (${error.code})`, { cause: error })
}
