import { ConnectionError, ErrorCode } from './http2-error.ts'

/** Bits of the code of each byte, then of EOS (RFC 7541 appendix B). The code is canonical: its words follow from their lengths. */
const codeBits = [
  13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28, 6, 10, 10,
  12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10, 13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
  7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6, 15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7,
  7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22,
  23, 23, 24, 22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22,
  23, 26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27, 20,
  24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26, 30,
]
const EOS = 256
const LONGEST_CODE_BITS = 30
const SHORTEST_CODE_BITS = 5
const LONGEST_PADDING_BITS = 7

/**
 * The tree of the code, walked four bits at a time: `steps[node * 16 + bits]` holds the node that is reached, the byte that was
 * completed on the way, and whether one was. No code is shorter than five bits, so four of them never complete two.
 */
const NODE_SHIFT = 9
const EMITS = 0x100
const FAILS = 0xffff_ffff
const tree = growTree()
const steps = stepsOf(tree)
const mayEnd = endsOf(tree)

export function decodeHuffman(bytes: Buffer, from: number, to: number): string {
  const room = roomFor(to - from)
  let length = 0
  let node = 0
  for (let at = from; at < to; at++) {
    const byte = bytes[at] ?? 0
    const high = steps[(node << 4) | (byte >> 4)] ?? FAILS
    if (high === FAILS) throw broken()
    if ((high & EMITS) !== 0) room[length++] = high & 0xff
    const low = steps[((high >>> NODE_SHIFT) << 4) | (byte & 15)] ?? FAILS
    if (low === FAILS) throw broken()
    if ((low & EMITS) !== 0) room[length++] = low & 0xff
    node = low >>> NODE_SHIFT
  }
  if (mayEnd[node] !== 1) throw broken()
  return room.toString('latin1', 0, length)
}

let sharedRoom = Buffer.allocUnsafeSlow(4096)

function roomFor(codedBytes: number): Buffer {
  const wanted = Math.ceil((codedBytes * 8) / SHORTEST_CODE_BITS)
  if (wanted > sharedRoom.length) sharedRoom = Buffer.allocUnsafeSlow(wanted * 2)
  return sharedRoom
}

function broken(): ConnectionError {
  return new ConnectionError(ErrorCode.compressionError, 'a Huffman-coded string is broken')
}

interface Tree {
  children: [number, number][]
}

function growTree(): Tree {
  const children: [number, number][] = [[0, 0]]
  let code = 0
  for (let bits = 1; bits <= LONGEST_CODE_BITS; bits++) {
    code *= 2
    for (let symbol = 0; symbol <= EOS; symbol++) if (codeBits[symbol] === bits) plant(children, { symbol, bits, code: code++ })
  }
  return { children }
}

function plant(children: [number, number][], { symbol, bits, code }: { symbol: number; bits: number; code: number }): void {
  let node = 0
  for (let at = bits - 1; at > 0; at--) {
    const pair = children[node]
    const bit = (code >>> at) & 1
    if (pair === undefined) return
    if (pair[bit] === 0) pair[bit] = children.push([0, 0]) - 1
    node = pair[bit] ?? 0
  }
  const last = children[node]
  if (last !== undefined) last[code & 1] = ~symbol
}

function stepsOf({ children }: Tree): Uint32Array {
  return Uint32Array.from({ length: children.length * 16 }, (_, index) => {
    let node = index >> 4
    let emitted = 0
    for (let at = 3; at >= 0; at--) {
      const next = children[node]?.[(index >> at) & 1] ?? 0
      if (next === ~EOS) return FAILS
      if (next < 0) emitted = EMITS | ~next
      node = Math.max(next, 0)
    }
    return ((node << NODE_SHIFT) | emitted) >>> 0
  })
}

/** A string may end where nothing but up to seven bits of EOS, all ones, have been read since its last byte. */
function endsOf({ children }: Tree): Uint8Array {
  const ends = new Uint8Array(children.length)
  let node = 0
  for (let bits = 0; bits <= LONGEST_PADDING_BITS; bits++) {
    ends[node] = 1
    node = children[node]?.[1] ?? 0
  }
  return ends
}
