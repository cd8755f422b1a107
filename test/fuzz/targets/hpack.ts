import type { HeaderField } from '../../../server/ingress/http2/header-field.ts'
import { HpackDecoder, type HpackLimits } from '../../../server/ingress/http2/hpack-decoder.ts'
import { HpackEncoder } from '../../../server/ingress/http2/hpack-encoder.ts'
import { ConnectionError } from '../../../server/ingress/http2/http2-error.ts'
import { Comparison } from '../base/comparison.ts'
import type { FuzzTarget } from '../base/target.ts'
import type { Oracle } from '../oracle/oracle.ts'

const NO_LIMIT_BYTES = 1_000_000
const SMALL_LIST_BYTES = 200

interface Reading {
  blocks: HeaderField[][]
  isTooLarge: boolean
  refusal: ConnectionError | undefined
  tableBytes: number
}

/** The field blocks of one connection: read as another decoder reads them, and back through our encoder. */
export function hpackTarget(oracles: readonly Oracle[]): FuzzTarget {
  const comparison = new Comparison(oracles)
  const encoder = new HpackEncoder()
  return {
    name: 'hpack',
    seeds,
    dictionary,
    check(input) {
      if (input.length < 2) return 'too short'
      const maxTableBytes = input.readUInt16LE(0)
      const reading = readIn(input, { maxTableBytes, maxListBytes: NO_LIMIT_BYTES })
      refuseLossByLimit(reading, readIn(input, { maxTableBytes, maxListBytes: SMALL_LIST_BYTES }))
      for (const fields of reading.blocks) refuseChangeByEncoder(fields, encoder)
      comparison.add({ kind: 'h', bytes: Buffer.from(input) }, { text: textOf(reading), isRefused: reading.refusal !== undefined }, input)
      return outcomeOf(reading)
    },
    compare: () => comparison.compare(),
    compared: () => comparison.counts(),
    close: () => comparison.stop(),
  }
}

/** An input is the table's size in two bytes, and then blocks with a length of two bytes each. */
function readIn(input: Buffer, limits: HpackLimits): Reading {
  const decoder = new HpackDecoder(limits)
  const reading: Reading = { blocks: [], isTooLarge: false, refusal: undefined, tableBytes: 0 }
  try {
    for (let at = 2; input.length - at >= 2; ) {
      const from = at + 2
      const to = Math.min(input.length, from + input.readUInt16LE(at))
      const { fields, isTooLarge } = decoder.decode(input, from, to)
      reading.blocks.push(fields)
      reading.isTooLarge ||= isTooLarge
      at = to
    }
  } catch (refusal) {
    if (!(refusal instanceof ConnectionError)) throw refusal
    reading.refusal = refusal
  }
  reading.tableBytes = decoder.table.sizeBytes
  if (reading.tableBytes > limits.maxTableBytes) throw new Error(`the table holds ${reading.tableBytes} bytes`)
  return reading
}

/** A list that is too long is cut, but the table must have followed it to its end. */
function refuseLossByLimit(whole: Reading, limited: Reading): void {
  const isSame = whole.tableBytes === limited.tableBytes && whole.refusal?.message === limited.refusal?.message
  if (!isSame) throw new Error(`a limit of the list changes the table: ${JSON.stringify([whole, limited])}`)
  for (const [index, fields] of limited.blocks.entries()) {
    const sizeBytes = fields.reduce((sum, field) => sum + field.sizeBytes, 0)
    if (sizeBytes > SMALL_LIST_BYTES) throw new Error(`a list of ${sizeBytes} bytes came through`)
    const isStart = fields.every((field, at) => sameField(field, whole.blocks[index]?.[at]))
    if (!isStart || (!limited.isTooLarge && fields.length !== whole.blocks[index]?.length)) throw new Error('a limit changes the fields')
  }
}

function refuseChangeByEncoder(fields: readonly HeaderField[], encoder: HpackEncoder): void {
  encoder.begin()
  for (const { name, value } of fields) {
    if (name === ':status' && /^[1-5]\d\d$/.test(value)) encoder.status(Number(value))
    else encoder.field(name, value)
  }
  const decoder = new HpackDecoder({ maxTableBytes: 0, maxListBytes: NO_LIMIT_BYTES })
  const again = decoder.decode(encoder.bytes, 0, encoder.length).fields
  const isSame = again.length === fields.length && fields.every((field, index) => sameField(field, again[index]))
  if (!isSame) throw new Error(`${JSON.stringify(fields)} comes back as ${JSON.stringify(again)}`)
}

function sameField(one: HeaderField, other: HeaderField | undefined): boolean {
  return one.name === other?.name && one.value === other.value
}

/** In the words of the oracle. */
function textOf({ blocks }: Reading): string {
  const texts = blocks.map((fields) => fields.map(({ name, value }) => `${name}\0${value}\0`).join(''))
  return texts.map((text) => `=${Buffer.from(text, 'latin1').toString('hex')}`).join(' ')
}

function outcomeOf({ blocks, refusal, tableBytes, isTooLarge }: Reading): string {
  const counts = blocks.slice(0, 4).map(({ length }) => Math.min(4, length))
  return `${refusal?.message.replace(/\d+/g, 'n') ?? 'read'}/${counts.join()} ${Math.ceil(Math.log2(1 + tableBytes))} ${isTooLarge}`
}

/** Blocks as one input. */
function connection(maxTableBytes: number, ...blocks: string[]): string {
  const length = (count: number) => String.fromCharCode(count & 0xff, count >> 8)
  return length(maxTableBytes) + blocks.map((block) => length(block.length) + block).join('')
}

const ofHex = (hex: string): string => Buffer.from(hex.replaceAll(' ', ''), 'hex').toString('latin1')

/** RFC 7541 appendix C, and some of each representation. */
const seeds = [
  connection(4096, ofHex('828684410f7777772e6578616d706c652e636f6d'), ofHex('828684be58086e6f2d6361636865')),
  connection(
    4096,
    ofHex('828684418cf1e3c2e5f23a6ba0ab90f4ff'),
    ofHex('828684be5886a8eb10649cbf'),
    ofHex('828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf'),
  ),
  connection(256, ofHex('488264025885aec3771a4b6196d07abe941054d444a8200595040b8166e082a62d1bff6e919d29ad171863c78f0b97c8e9ae82ae43d3')),
  connection(256, ofHex('4803333037c1c0bf'), ofHex('3f e1 01 88')),
  connection(0, ofHex('400a637573746f6d2d6b65790d637573746f6d2d686561646572'), ofHex('82')),
  connection(128, ofHex('20 3f 61 82'), ofHex('400161 0162 400161 0163 400161 0164 be bf c0'), ofHex('1001610162 0001610162')),
  connection(64, `\x40\x01a\x20${'b'.repeat(32)}`, '\x20\x82', '\x3f\x21\xbe'),
]

const dictionary = [
  ...[
    '\x82',
    '\xbe',
    '\xbf',
    '\xc0',
    '\xff\x00',
    '\xff\xff\xff\xff\x7f',
    '\x40',
    '\x00',
    '\x10',
    '\x20',
    '\x3f\x00',
    '\x3f\x21',
    '\x3f\xe1\x1f',
    '\x3f\xe2\x1f',
  ],
  ...[
    '\x7f\x80\x80\x80\x00',
    '\x7f\xff\xff\xff\x7f',
    '\x80',
    '\x01a\x01b',
    '\x40\x01a\x01b',
    '\x40\x00\x00',
    '\x41\x01b',
    '\x7e\x01b',
    '\x00\x7f\x00',
  ],
  ...[
    '\x81\x1f',
    '\x82\xff\xff',
    '\x84\xff\xff\xff\xff',
    '\x83\x25\xa8\x49',
    '\x81\xff',
    '\x85\xff\xff\xff\xff\xfc',
    '\x01\x00',
    '\x05\x00',
    '\x00\x00',
    '\x40\x00',
  ],
  ...[ofHex('8825a849e95ba97d7f'), ofHex('8cf1e3c2e5f23a6ba0ab90f4ff'), `\x7f\x01${'x'.repeat(128)}`],
]
