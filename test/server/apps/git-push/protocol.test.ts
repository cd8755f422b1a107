import { describe, expect, test } from 'vitest'
import { type PushHead, readHead, writeHead } from '../../../../server/apps/git-push/protocol/commands.ts'
import { FLUSH, MAX_PAYLOAD_BYTES, pktLine, readPacket } from '../../../../server/apps/git-push/protocol/pkt-line.ts'
import { readReport, writeReport } from '../../../../server/apps/git-push/protocol/report.ts'
import { bands, onBand, splitBands } from '../../../../server/apps/git-push/protocol/side-band.ts'

const [none, first] = ['0'.repeat(40), '1'.repeat(40)]

async function* pieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

const read = (bytes: Uint8Array, size = bytes.length) => readHead(pieces(bytes, size))

describe('lines', () => {
  test('are read as they are written, also in pieces', () => {
    expect(Buffer.from(pktLine('hi\n')).toString()).toBe('0007hi\n')
    expect(readPacket(Buffer.from('0007hi\n0000'))).toEqual({ kind: 'line', payload: Buffer.from('hi\n'), byteCount: 7 })
    expect(readPacket(Buffer.from('0000'))).toEqual({ kind: 'flush', byteCount: 4 })
    for (const text of ['', '000', '0007hi']) expect(readPacket(Buffer.from(text))).toEqual({ kind: 'incomplete' })
  })

  test('of lengths that cannot be are none', () => {
    for (const text of ['0001', '0003', 'fff5', 'PACK', '+007', '00 7'])
      expect(readPacket(Buffer.from(text))).toEqual({ kind: 'malformed' })
  })
})

describe('the head of a push', () => {
  const head: PushHead = {
    updates: [
      { ref: 'refs/heads/main', from: none, to: first },
      { ref: 'refs/tags/v1', from: first, to: none },
    ],
    shallow: [first],
    capabilities: new Set(['report-status', 'side-band-64k']),
  }
  const bytes = Buffer.concat([writeHead(head), Buffer.from('PACKrest')])

  test('is taken off the stream wherever that is cut, and what comes behind is left', async () => {
    for (const size of [1, 3, 64, bytes.length]) {
      const body = pieces(bytes, size)
      const { head: taken, rest } = await readHead(body)
      expect(taken).toEqual(head)
      const others = await Array.fromAsync(body)
      expect(Buffer.concat([rest, ...others]).toString()).toBe('PACKrest')
    }
  })

  test('may be empty, as git asks whether it is let in', async () => {
    expect((await read(FLUSH)).head.updates).toEqual([])
  })

  test('that is cut off, malformed or endless is refused', async () => {
    await expect(read(bytes.subarray(0, 60))).rejects.toMatchObject({ code: 'bad_request' })
    await expect(read(Buffer.from('GIF89a'))).rejects.toMatchObject({ code: 'bad_request' })
    await expect(read(pktLine('what is this\n'))).rejects.toMatchObject({ code: 'bad_request' })
    const many = Array.from({ length: 20_000 }, (_, at) => pktLine(`${none} ${first} refs/heads/${at}\n`))
    await expect(read(Buffer.concat([...many, FLUSH]), 65_536)).rejects.toMatchObject({ code: 'payload_too_large' })
  })
})

describe('a report', () => {
  const outcomes = [{ ref: 'refs/heads/main' }, { ref: 'refs/heads/a', refusal: 'deploy failed:\n  it broke' }]

  test('says what became of each ref, in a line', () => {
    const plain = Buffer.from(writeReport({ outcomes }, new Set(['report-status'])))
    expect(readReport(plain).outcomes).toEqual([{ ref: 'refs/heads/main' }, { ref: 'refs/heads/a', refusal: 'deploy failed: it broke' }])
    const banded = Buffer.from(writeReport({ outcomes }, new Set(['report-status', 'side-band-64k'])))
    expect(splitBands(banded).answer.equals(plain)).toBe(true)
  })

  test('is left out where nobody asked for one', () => {
    expect(writeReport({ outcomes }, new Set())).toHaveLength(0)
    expect(Buffer.from(writeReport({ outcomes }, new Set(['side-band-64k']))).toString()).toBe('0000')
  })

  test('without a word of the objects has not taken them', () => {
    expect(readReport(Buffer.alloc(0)).unpackProblem).toBeDefined()
    expect(readReport(Buffer.from(writeReport({ unpackProblem: 'bad pack', outcomes: [] }, new Set(['report-status']))))).toEqual({
      unpackProblem: 'bad pack',
      outcomes: [],
    })
  })
})

test('bands split what is too long for a line, and come together again', () => {
  const long = Buffer.alloc(3 * MAX_PAYLOAD_BYTES, 'x')
  const bytes = Buffer.concat([onBand(bands.answer, long), onBand(bands.progress, Buffer.from('a')), onBand(bands.fatal, Buffer.from('b'))])
  const { answer, progress } = splitBands(bytes)
  expect(answer.equals(long)).toBe(true)
  expect(progress.toString()).toBe('ab')
})
