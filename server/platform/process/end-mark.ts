import { randomBytes } from 'node:crypto'

export interface EndMark {
  /** What is written into the terminal behind the last output: no program can know it, and no mode of a terminal changes it. */
  readonly bytes: Buffer
  /** What of a chunk may be shown at once, without the mark. A possible beginning of the mark is held back. */
  take(chunk: Uint8Array): Uint8Array
  rest(): Uint8Array
  readonly seen: Promise<void>
}

/** Upper case only: a terminal may turn small letters into capitals (OLCUC). */
export function makeEndMark(): EndMark {
  const bytes = Buffer.from(randomBytes(16).toString('hex').toUpperCase())
  const { promise: seen, resolve } = Promise.withResolvers<void>()
  let held = Buffer.alloc(0)
  let isSeen = false
  const take = (chunk: Uint8Array): Uint8Array => {
    if (isSeen) return chunk
    const all = Buffer.concat([held, chunk])
    const at = all.indexOf(bytes)
    if (at === -1) {
      const until = all.length - beginningAtTheEnd(all, bytes)
      held = all.subarray(until)
      return all.subarray(0, until)
    }
    isSeen = true
    held = Buffer.alloc(0)
    resolve()
    return Buffer.concat([all.subarray(0, at), all.subarray(at + bytes.length)])
  }
  const rest = () => {
    const last = held
    held = Buffer.alloc(0)
    return last
  }
  return { bytes, take, rest, seen }
}

/** Bytes at the end of the output with which the mark may have begun. */
function beginningAtTheEnd(output: Buffer, mark: Buffer): number {
  for (let length = Math.min(mark.length - 1, output.length); length > 0; length--) {
    if (output.subarray(output.length - length).equals(mark.subarray(0, length))) return length
  }
  return 0
}
