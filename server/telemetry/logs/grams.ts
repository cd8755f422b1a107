/**
 * Which runs of four characters a chunk of text holds, as one bit each: a search skips every chunk that lacks a run of its term, without
 * unpacking it. A set bit may be a coincidence, a clear bit never is. Four characters keep hexadecimal ids selective at 8 KB a chunk;
 * full-text tables of SQLite took five times the space and a quarter of the intake rate, and find whole words only.
 */
const GRAM_LENGTH = 4
const MIN_BITS_LOG2 = 10
const MAX_BITS_LOG2 = 17

export function packGrams(foldedText: string, keys: Iterable<string>): Uint8Array {
  const bitsLog2 = Math.min(MAX_BITS_LOG2, Math.max(MIN_BITS_LOG2, Math.ceil(Math.log2(foldedText.length + 1))))
  const bits = new Uint8Array(1 << (bitsLog2 - 3))
  setTextBits(bits, foldedText, 32 - bitsLog2)
  for (const key of keys) setBit(bits, keyHash(key) >>> (32 - bitsLog2))
  return Bun.zstdCompressSync(bits, { level: 1 })
}

export const unpackGrams = (packed: Uint8Array): Uint8Array => Bun.zstdDecompressSync(packed)

/** False only when the text surely does not contain the folded term. Terms shorter than a gram are always possible. */
export function mayContain(grams: Uint8Array, term: string): boolean {
  const shift = 32 - Math.log2(grams.length * 8)
  let window = 0
  for (let i = 0; i < term.length; i++) {
    window = (window << 8) ^ term.charCodeAt(i)
    if (i >= GRAM_LENGTH - 1 && !hasBit(grams, mix(window) >>> shift)) return false
  }
  return true
}

export const mayHoldKey = (grams: Uint8Array, key: string): boolean => hasBit(grams, keyHash(key) >>> (32 - Math.log2(grams.length * 8)))

function setTextBits(bits: Uint8Array, text: string, shift: number): void {
  // Four shifts by eight bits push a code unit out of the window, so it depends on the last four units and nothing before.
  let window = 0
  for (let i = 0; i < text.length; i++) {
    window = (window << 8) ^ text.charCodeAt(i)
    if (i >= GRAM_LENGTH - 1) setBit(bits, mix(window) >>> shift)
  }
}

const mix = (window: number): number => Math.imul(window ^ (window >>> 15), 0x9e3779b1)

function keyHash(key: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193)
  return mix(hash)
}

function setBit(bits: Uint8Array, bit: number): void {
  const index = bit >>> 3
  bits[index] = (bits[index] ?? 0) | (1 << (bit & 7))
}

const hasBit = (bits: Uint8Array, bit: number): boolean => ((bits[bit >>> 3] ?? 0) & (1 << (bit & 7))) !== 0
