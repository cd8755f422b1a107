import { createHash, generateKeyPairSync, sign } from 'node:crypto'

export interface ChecksumDatabase {
  /** What GOSUMDB is set to; an address may follow it. */
  key: string
  /** Its answer below its address; undefined for what it does not have. */
  answer(path: string): Uint8Array<ArrayBuffer> | string | undefined
}

const NAME = 'sums.example'

/** A checksum database over so many records, of which the last are these lines, made as the text at https://go.dev/design/25530-sumdb says. */
export function checksumDatabase(lines: readonly string[], size = 700): ChecksumDatabase {
  const texts = Array.from({ length: size }, (_, at) => lines[at - (size - lines.length)] ?? `example.com/m${at} v1.0.0 h1:x`).map(
    (one) => `${one}\n`,
  )
  const levels = [texts.map((text) => sha256(0, text))]
  for (let below = levels[0] ?? []; below.length >= 2; ) {
    const above = Array.from({ length: Math.floor(below.length / 2) }, (_, at) => sha256(1, below[2 * at] ?? '', below[2 * at + 1] ?? ''))
    levels.push(above)
    below = above
  }
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const key = Buffer.concat([Buffer.from([1]), Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url')])
  const keyHash = createHash('sha256').update(`${NAME}\n`).update(key).digest().subarray(0, 4)
  const head = `go.sum database tree\n${size}\n${rootOf(levels, size).toString('base64')}\n`
  const signature = Buffer.concat([keyHash, sign(null, Buffer.from(head), privateKey)]).toString('base64')
  const record = (module: string): string | undefined => {
    const id = texts.findIndex((text) => text.startsWith(module.replace('@', ' ')))
    return id < 0 ? undefined : `${id}\n${texts[id]}\n${head}\n— ${NAME} ${signature}\n`
  }
  return {
    key: `${NAME}+${keyHash.toString('hex')}+${key.toString('base64')}`,
    answer(path) {
      const [, module] = /^lookup\/(.+)$/.exec(path) ?? []
      if (module !== undefined) return record(module)
      const [, level, index, width = '256'] = /^tile\/8\/(\d)\/(\d{3})(?:\.p\/(\d+))?$/.exec(path) ?? []
      const hashes = levels[8 * Number(level)]?.slice(256 * Number(index), 256 * Number(index) + Number(width))
      return hashes && new Uint8Array(Buffer.concat(hashes))
    },
  }
}

function sha256(kind: 0 | 1, ...parts: readonly (string | Buffer)[]): Buffer {
  const hash = createHash('sha256').update(Buffer.from([kind]))
  for (const part of parts) hash.update(part)
  return hash.digest()
}

/** Over the whole subtrees that a tree falls into, the largest of which comes first. */
function rootOf(levels: readonly Buffer[][], size: number): Buffer {
  const whole = levels.flatMap((hashes, level) => ((size >> level) & 1 ? [hashes.at(-1) ?? Buffer.alloc(0)] : []))
  return whole.reduce((right, left) => sha256(1, left, right))
}
