import { expect, test } from 'vitest'
import { cancelRequestOf, readFirstPacket } from '../../../../server/ingress/postgres/first-packet.ts'
import { cancelRequest, gssRequest, packet, sslRequest, startup } from '../databases/packets.ts'

const kindOf = (bytes: Buffer): string => readFirstPacket(bytes).kind

test('requests for encryption are told, and only whole ones', () => {
  expect(readFirstPacket(sslRequest)).toEqual({ kind: 'ssl_request', bytes: 8 })
  expect(readFirstPacket(gssRequest)).toEqual({ kind: 'gss_request', bytes: 8 })
  expect(kindOf(sslRequest.subarray(0, 7))).toBe('incomplete')
  expect(kindOf(packet(80_877_103, Buffer.from('x')))).toBe('malformed')
})

test('parameters are read to their end and no further', () => {
  const bytes = startup({ user: 'ada', database: '', options: '-c a=b' })
  const read = {
    kind: 'startup',
    bytes: bytes.length,
    parameters: [
      ['user', 'ada'],
      ['database', ''],
      ['options', '-c a=b'],
    ],
  }
  expect(readFirstPacket(bytes)).toEqual(read)
  expect(readFirstPacket(Buffer.concat([bytes, Buffer.from('p more')]))).toEqual(read)
})

test.each([
  ['without the last zero', 'user\0ada\0'],
  ['with a name alone', 'user\0'],
  ['with bytes behind the end', 'user\0ada\0\0x\0'],
  ['of nothing at all', ''],
])('parameters %s are refused', (_, body) => {
  expect(kindOf(packet(3 << 16, Buffer.from(body)))).toBe('malformed')
})

test('lengths that cannot be are refused at once, before anything is waited for', () => {
  for (const length of [-1, 0, 7, 10_001, 0x7fff_ffff]) {
    const bytes = Buffer.alloc(4)
    bytes.writeInt32BE(length, 0)
    expect(kindOf(bytes)).toBe('malformed')
  }
  expect(kindOf(Buffer.from('GET / HTTP/1.1\r\n\r\n'))).toBe('malformed')
})

test('other versions of the protocol are told from garbage', () => {
  expect(kindOf(startup({ user: 'ada' }, 2 << 16))).toBe('unknown_version')
  expect(kindOf(startup({ user: 'ada' }, (3 << 16) | 2))).toBe('startup')
})

test('keys to cancel by may be long, and are passed on as they came', () => {
  for (const length of [4, 32, 256]) {
    const bytes = cancelRequest(4711, Buffer.alloc(length, 7))
    const read = readFirstPacket(bytes)
    expect(read.kind === 'cancel' && cancelRequestOf(read.key).equals(bytes)).toBe(true)
  }
  expect(kindOf(cancelRequest(1, Buffer.alloc(0)))).toBe('malformed')
  expect(kindOf(cancelRequest(1, Buffer.alloc(257)))).toBe('malformed')
})
