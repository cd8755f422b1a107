import { AARCH64, type Listing, X86_64 } from './machine-code.ts'
import type { Architecture } from './numbers.ts'

const LOAD_ADDRESS = 0x40_0000n
const HEADER_BYTES = 64
const SEGMENT_BYTES = 56
const CODE_OFFSET = HEADER_BYTES + 2 * SEGMENT_BYTES
/** The largest page that aarch64 may have. */
const PAGE_BYTES = 0x1_0000n

const MACHINES: Record<Architecture, { number: number; listing: Listing }> = {
  x64: { number: 62, listing: X86_64 },
  arm64: { number: 183, listing: AARCH64 },
}

const READ_AND_EXECUTE = 5
const READ_AND_WRITE = 6
const LOADED = 1
const STACK = 0x6474_e551

/** The program that carries out steps, as an executable file without libraries (elf(5)): one segment, and a stack that holds no code. */
export function stepProgram(architecture: Architecture): Uint8Array {
  const { number, listing } = MACHINES[architecture]
  const code = codeOf(listing)
  const file = Buffer.alloc(CODE_OFFSET + code.length)
  file.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1])
  file.writeUInt16LE(2, 16)
  file.writeUInt16LE(number, 18)
  file.writeUInt32LE(1, 20)
  file.writeBigUInt64LE(LOAD_ADDRESS + BigInt(CODE_OFFSET), 24)
  file.writeBigUInt64LE(BigInt(HEADER_BYTES), 32)
  file.writeUInt16LE(HEADER_BYTES, 52)
  file.writeUInt16LE(SEGMENT_BYTES, 54)
  file.writeUInt16LE(2, 56)
  writeSegment(file, HEADER_BYTES, { type: LOADED, flags: READ_AND_EXECUTE, address: LOAD_ADDRESS, size: file.length })
  writeSegment(file, HEADER_BYTES + SEGMENT_BYTES, { type: STACK, flags: READ_AND_WRITE, address: 0n, size: 0 })
  file.set(code, CODE_OFFSET)
  return file
}

export const codeOf = (listing: Listing): Uint8Array => Buffer.from(listing.map(([bytes]) => bytes).join(''), 'hex')

interface Segment {
  type: number
  flags: number
  address: bigint
  size: number
}

function writeSegment(file: Buffer, at: number, { type, flags, address, size }: Segment): void {
  file.writeUInt32LE(type, at)
  file.writeUInt32LE(flags, at + 4)
  file.writeBigUInt64LE(address, at + 16)
  file.writeBigUInt64LE(address, at + 24)
  file.writeBigUInt64LE(BigInt(size), at + 32)
  file.writeBigUInt64LE(BigInt(size), at + 40)
  file.writeBigUInt64LE(PAGE_BYTES, at + 48)
}
