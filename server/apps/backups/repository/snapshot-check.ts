import { crc64 } from './crc64.ts'
import { BackupDamaged } from './pack.ts'

/** `REDIS0011`, or `VALKEY080` of Valkey from 9 on: the program that the format is of, and its version. See rdb.c of both. */
const headPattern = /^(?:REDIS\d{4}|VALKEY\d{3})$/
const HEAD_BYTES = 9
const END_MARK = 0xff
const CHECKSUM_BYTES = 8

/**
 * Passes a snapshot file on as it is, and fails at its end where that is not the end of a whole one. Whether its keys can be read is for a
 * server to say. @throws BackupDamaged
 */
export async function* checkedSnapshot(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const checksum = crc64()
  let head: Buffer = Buffer.alloc(0)
  let mark: number | undefined
  // What may be the checksum, which is not part of what it is of.
  let held: Buffer = Buffer.alloc(0)
  for await (const chunk of content) {
    if (head.length < HEAD_BYTES) head = Buffer.concat([head, chunk.subarray(0, HEAD_BYTES - head.length)])
    const summed = sum(held, chunk, checksum.add)
    held = summed.held
    mark = summed.last ?? mark
    yield chunk
  }
  refuseUnless(headPattern.test(head.toString('latin1')), 'it does not begin as a snapshot does')
  refuseUnless(held.length === CHECKSUM_BYTES && mark === END_MARK, 'its end is missing')
  refuseUnless(
    held.some((byte) => byte !== 0),
    'it has no checksum',
  )
  refuseUnless(held.equals(checksum.digest()), 'its checksum is that of another content')
}

/** Adds all but the last bytes of what was held and what has come. Returns those, and the last byte that was added. */
function sum(held: Buffer, chunk: Uint8Array, add: (bytes: Uint8Array) => void): { held: Buffer; last: number | undefined } {
  const fromHeld = Math.max(0, Math.min(held.length, held.length + chunk.length - CHECKSUM_BYTES))
  const fromChunk = Math.max(0, chunk.length - CHECKSUM_BYTES)
  add(held.subarray(0, fromHeld))
  add(chunk.subarray(0, fromChunk))
  const last = fromChunk > 0 ? chunk[fromChunk - 1] : held[fromHeld - 1]
  return { held: Buffer.concat([held.subarray(fromHeld), chunk.subarray(fromChunk)]), last }
}

function refuseUnless(isRight: boolean, problem: string): void {
  if (!isRight) throw new BackupDamaged(problem)
}
