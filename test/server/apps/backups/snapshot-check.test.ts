import { describe, expect, it } from 'vitest'
import { keysRead } from '../../../../server/apps/backups/key-value/restore-script.ts'
import { crc64 } from '../../../../server/apps/backups/repository/crc64.ts'
import { checkedSnapshot } from '../../../../server/apps/backups/repository/snapshot-check.ts'

const digestOf = (...parts: (string | Uint8Array)[]): string => {
  const sum = crc64()
  for (const part of parts) sum.add(typeof part === 'string' ? Buffer.from(part) : part)
  return sum.digest().reverse().toString('hex')
}

describe('the checksum of snapshots', () => {
  it('is the one that the source of the program names for a text', () => {
    expect(digestOf('123456789')).toBe('e9c6d914c4b8d9ca')
    expect(digestOf('')).toBe('0000000000000000')
  })

  it('is one however the content is cut', () => {
    const content = Buffer.from(Array.from({ length: 300 }, (_, index) => (index * 37) & 0xff))
    const whole = digestOf(content)
    for (let cut = 0; cut <= 40; cut += 1) expect(digestOf(content.subarray(0, cut), content.subarray(cut))).toBe(whole)
  })
})

/** A snapshot with nothing in it, or with what is given in place of keys. */
function snapshot(between = 'keys', head = 'VALKEY080'): Buffer {
  const content = Buffer.concat([Buffer.from(head + between), Buffer.from([0xff])])
  const sum = crc64()
  sum.add(content)
  return Buffer.concat([content, sum.digest()])
}

async function passed(content: Buffer, size = content.length): Promise<Buffer> {
  const pieces = Array.from({ length: Math.ceil(content.length / size) }, (_, index) => content.subarray(index * size, (index + 1) * size))
  const given: Uint8Array[] = []
  async function* source() {
    yield* pieces
  }
  for await (const piece of checkedSnapshot(source())) given.push(piece)
  return Buffer.concat(given)
}

describe('a snapshot', () => {
  it('passes as it is when it is whole, in pieces of any size', async () => {
    const content = snapshot('a few keys and values')
    for (let size = 1; size <= content.length; size += 1) expect(await passed(content, size)).toEqual(content)
    expect(await passed(snapshot('', 'REDIS0011'))).toHaveLength(18)
  })

  it('is refused with a word of what is wrong', async () => {
    const content = snapshot()
    const flipped = Buffer.from(content)
    flipped[10] = (flipped[10] ?? 0) ^ 1
    const unsummed = Buffer.concat([content.subarray(0, -8), Buffer.alloc(8)])
    await expect(passed(flipped)).rejects.toThrow('its checksum is that of another content')
    await expect(passed(content.subarray(0, -1))).rejects.toThrow('its end is missing')
    await expect(passed(content.subarray(0, 12))).rejects.toThrow('its end is missing')
    await expect(passed(unsummed)).rejects.toThrow('it has no checksum')
    await expect(passed(snapshot('', 'SQLite fo'))).rejects.toThrow('it does not begin as a snapshot does')
    await expect(passed(Buffer.alloc(0))).rejects.toThrow('it does not begin as a snapshot does')
  })
})

it('tells how many keys a server has read', () => {
  const line = '12:M 23 Nov 2026 13:00:00.000 * Done loading RDB, keys loaded: 42, keys expired: 3, empty keys skipped: 0.'
  expect(keysRead(`Server initialized\n${line}\nDB loaded from disk`)).toEqual({ keys: 42, expired: 3 })
  expect(keysRead('nothing')).toBeUndefined()
})
