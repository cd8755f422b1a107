import { describe, expect, test } from 'vitest'
import { DynamicTable } from '../../../../server/ingress/http2/dynamic-table.ts'
import { HeaderField } from '../../../../server/ingress/http2/header-field.ts'
import { HpackDecoder } from '../../../../server/ingress/http2/hpack-decoder.ts'
import { HpackEncoder } from '../../../../server/ingress/http2/hpack-encoder.ts'
import { ConnectionError } from '../../../../server/ingress/http2/http2-error.ts'
import { randomFrom } from '../random.ts'

const decoderOf = (maxTableBytes = 4096, maxListBytes = 32_768) => new HpackDecoder({ maxTableBytes, maxListBytes })

function decode(decoder: HpackDecoder, hex: string): string[] {
  const bytes = Buffer.from(hex.replaceAll(' ', ''), 'hex')
  return decoder.decode(bytes, 0, bytes.length).fields.map(({ name, value }) => `${name}: ${value}`)
}

const first = [':method: GET', ':scheme: http', ':path: /', ':authority: www.example.com']
const second = [...first, 'cache-control: no-cache']
const third = [':method: GET', ':scheme: https', ':path: /index.html', ':authority: www.example.com', 'custom-key: custom-value']
const monday21 = 'date: Mon, 21 Oct 2013 20:13:21 GMT'
const found = [':status: 302', 'cache-control: private', monday21, 'location: https://www.example.com']
const temporary = [':status: 307', 'cache-control: private', monday21, 'location: https://www.example.com']
const ok = [
  ':status: 200',
  'cache-control: private',
  'date: Mon, 21 Oct 2013 20:13:22 GMT',
  'location: https://www.example.com',
  'content-encoding: gzip',
  'set-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1',
]

/** RFC 7541 appendix C: blocks of one connection, what they say, and how large the table is after each. */
const examples: [name: string, tableBytes: number, blocks: [hex: string, fields: string[], tableBytes: number][]][] = [
  ['C.2.1', 4096, [['400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572', ['custom-key: custom-header'], 55]]],
  ['C.2.2', 4096, [['040c 2f73 616d 706c 652f 7061 7468', [':path: /sample/path'], 0]]],
  ['C.2.3', 4096, [['1008 7061 7373 776f 7264 0673 6563 7265 74', ['password: secret'], 0]]],
  ['C.2.4', 4096, [['82', [':method: GET'], 0]]],
  [
    'C.3',
    4096,
    [
      ['8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d', first, 57],
      ['8286 84be 5808 6e6f 2d63 6163 6865', second, 110],
      ['8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65', third, 164],
    ],
  ],
  [
    'C.4',
    4096,
    [
      ['8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff', first, 57],
      ['8286 84be 5886 a8eb 1064 9cbf', second, 110],
      ['8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf', third, 164],
    ],
  ],
  [
    'C.5',
    256,
    [
      [
        '4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d',
        found,
        222,
      ],
      ['4803 3330 37c1 c0bf', temporary, 222],
      [
        '88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 5a04 677a 6970 7738 666f 6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 5745 4f49 553b 206d 6178 2d61 6765 3d33 3630 303b 2076 6572 7369 6f6e 3d31',
        ok,
        215,
      ],
    ],
  ],
  [
    'C.6',
    256,
    [
      [
        '4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3',
        found,
        222,
      ],
      ['4883 640e ffc1 c0bf', temporary, 222],
      [
        '88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07',
        ok,
        215,
      ],
    ],
  ],
]

test.each(examples)('the examples of RFC 7541 appendix %s are decoded', (_name, tableBytes, blocks) => {
  const decoder = decoderOf(tableBytes)
  for (const [hex, fields, sizeBytes] of blocks) {
    expect(decode(decoder, hex)).toEqual(fields)
    expect(decoder.table.sizeBytes).toBe(sizeBytes)
  }
})

const broken: [string, string][] = [
  ['index 0', '80'],
  ['an index beyond the tables', 'be'],
  ['a name beyond the tables', '7f 00 01 61'],
  ['an index that is too large a number', 'ff ff ff ff ff ff 7f'],
  ['a number without an end', 'ff ff'],
  ['a string longer than the block', '40 05 61 62'],
  ['a literal without a value', '40 01 61'],
  ['a name without its length', '40'],
  ['Huffman padding longer than 7 bits', '00 01 61 82 1f ff ff'],
  ['Huffman padding of zeros', '00 01 61 81 18'],
  ['EOS inside of a Huffman string', '00 01 61 84 ff ff ff ff'],
  ['a table larger than allowed', '3f e2 1f'],
  ['a table size in the middle of a block', '82 20'],
]
test.each(broken)('%s breaks the connection', (_name, hex) => {
  expect(() => decode(decoderOf(), hex)).toThrow(ConnectionError)
})

describe('the dynamic table', () => {
  test('is emptied and filled again by size updates', () => {
    const decoder = decoderOf()
    decode(decoder, '40 01 61 01 62')
    expect(decode(decoder, 'be')).toEqual(['a: b'])
    expect(decode(decoder, '20 3f e1 1f 40 01 63 01 64')).toEqual(['c: d'])
    expect(decode(decoder, 'be')).toEqual(['c: d'])
    expect(() => decode(decoder, 'bf')).toThrow(ConnectionError)
  })

  test('names a field that is pushed out by the field that is named after it', () => {
    const decoder = decoderOf(64)
    decode(decoder, '40 04 6e61 6d65 05 76616c 7565')
    expect(decode(decoder, '7e 02 7634')).toEqual(['name: v4'])
    expect(decoder.table.length).toBe(1)
  })

  test('a field larger than the table empties it', () => {
    const table = new DynamicTable(100)
    table.add(new HeaderField('a', 'b'))
    table.add(new HeaderField('a', 'b'.repeat(100)))
    expect([table.length, table.sizeBytes, table.at(0)]).toEqual([0, 0, undefined])
  })

  test('behaves as a list does, whatever is added', () => {
    const random = randomFrom(3)
    const table = new DynamicTable(4096)
    const list: HeaderField[] = []
    for (let round = 0; round < 5000; round++) {
      const field = new HeaderField('n'.repeat(random(20)), 'v'.repeat(random(random(100) === 0 ? 5000 : 60)))
      table.add(field)
      list.unshift(field)
      while (list.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) > 4096) list.pop()
      expect(table.length).toBe(list.length)
      const index = random(list.length + 2)
      expect(table.at(index)).toBe(list[index])
    }
  })
})

test('a list that is too large is followed to its end and given as too large', () => {
  const decoder = decoderOf(4096, 100)
  const bytes = Buffer.from('4001610162'.repeat(10), 'hex')
  expect(decoder.decode(bytes, 0, bytes.length)).toMatchObject({ isTooLarge: true })
  expect(decode(decoder, 'c7')).toEqual(['a: b'])
})

test('what the encoder writes the decoder reads', () => {
  const random = randomFrom(5)
  const decoder = decoderOf(4096, 1_000_000)
  const encoder = new HpackEncoder()
  const text = (length: number) => Array.from({ length }, () => String.fromCharCode(random(256))).join('')
  for (let round = 0; round < 300; round++) {
    const fields = Array.from({ length: random(30) }, () => {
      const name = ['content-type', 'date', `x-${random(1000)}`, text(1 + random(40))][random(4)] ?? ''
      return `${name}: ${text(random(random(10) === 0 ? 5000 : 40))}`
    })
    encoder.begin()
    encoder.status(200 + random(300))
    for (const field of fields) encoder.field(field.slice(0, field.indexOf(': ')), field.slice(field.indexOf(': ') + 2))
    const { fields: read } = decoder.decode(encoder.bytes, 0, encoder.length)
    expect(read.slice(1).map(({ name, value }) => `${name}: ${value}`)).toEqual(fields)
  }
})
