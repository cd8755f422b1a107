/**
 * The CRC-64 that snapshot files end with: polynomial 0xad93d23594c935a9 of D. T. Jones ("An Improved 64-bit Cyclic Redundancy Check for
 * Protein Sequences"), bits reflected, beginning with 0. See src/crc64.c of Valkey and Redis, which give e9c6d914c4b8d9ca for "123456789".
 */
const REFLECTED = 0x95ac9329ac4bc9b5n
/** Bytes that are taken at once, each with a table of its own. */
const STRIDE = 8

/** Halves of 64 bits: whole ones would be made anew for each byte. */
interface Tables {
  low: readonly Uint32Array[]
  high: readonly Uint32Array[]
}

let made: Tables | undefined

function tables(): Tables {
  made ??= makeTables()
  return made
}

function makeTables(): Tables {
  const first = Array.from({ length: 256 }, (_, byte) => ofByte(BigInt(byte)))
  const all = [first]
  for (let stride = 1; stride < STRIDE; stride += 1)
    all.push((all.at(-1) ?? []).map((value) => (value >> 8n) ^ (first[Number(value & 0xffn)] ?? 0n)))
  return {
    low: all.map((table) => Uint32Array.from(table, (value) => Number(value & 0xffffffffn))),
    high: all.map((table) => Uint32Array.from(table, (value) => Number(value >> 32n))),
  }
}

function ofByte(byte: bigint): bigint {
  let value = byte
  for (let bit = 0; bit < 8; bit += 1) value = (value & 1n) === 1n ? (value >> 1n) ^ REFLECTED : value >> 1n
  return value
}

export interface Crc64 {
  add(bytes: Uint8Array): void
  /** The sum of all that was added, its lowest byte first, as it stands in files. */
  digest(): Buffer
}

export function crc64(): Crc64 {
  const { low, high } = tables()
  let [lower, upper] = [0, 0]
  const addByte = (byte: number): void => {
    const index = (lower ^ byte) & 0xff
    const shifted = (lower >>> 8) | (upper << 24)
    lower = shifted ^ at(low, 0, index)
    upper = (upper >>> 8) ^ at(high, 0, index)
  }
  return {
    add(bytes) {
      const words = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
      const end = bytes.length - (bytes.length % STRIDE)
      for (let offset = 0; offset < end; offset += STRIDE) {
        const one = lower ^ words.getUint32(offset, true)
        const other = upper ^ words.getUint32(offset + 4, true)
        lower = joined(low, one, other)
        upper = joined(high, one, other)
      }
      for (let offset = end; offset < bytes.length; offset += 1) addByte(words.getUint8(offset))
    },
    digest() {
      const digest = Buffer.alloc(STRIDE)
      digest.writeUInt32LE(lower >>> 0, 0)
      digest.writeUInt32LE(upper >>> 0, 4)
      return digest
    },
  }
}

const at = (tablesOf: readonly Uint32Array[], table: number, index: number): number => tablesOf[table]?.[index] ?? 0

const joined = (of: readonly Uint32Array[], one: number, other: number): number =>
  at(of, 7, one & 0xff) ^
  at(of, 6, (one >>> 8) & 0xff) ^
  at(of, 5, (one >>> 16) & 0xff) ^
  at(of, 4, one >>> 24) ^
  at(of, 3, other & 0xff) ^
  at(of, 2, (other >>> 8) & 0xff) ^
  at(of, 1, (other >>> 16) & 0xff) ^
  at(of, 0, other >>> 24)
