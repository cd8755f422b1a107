import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { packIsolated, unpackIsolated } from '../../../../server/apps/backups/repository/pack-isolated.ts'
import { createPlaces } from '../../../../server/platform/work/places.ts'

const dir = mkdtempSync(join(tmpdir(), 'pack-'))
afterAll(() => rmSync(dir, { recursive: true }))

let identity = ''
let recipient = ''
beforeAll(async () => {
  identity = await generateX25519Identity()
  recipient = await identityToRecipient(identity)
})

const content = Buffer.concat([randomBytes(700_000), Buffer.alloc(900_000, 'row\n')])
const at = (name: string) => join(dir, name)
const kind = 'backup'

describe('packing in a process of its own', () => {
  it('gives back what was put in, one file after the other', async () => {
    const { digest, plainBytes } = await packIsolated(Readable.from([content.subarray(0, 5), content.subarray(5)]), at('packed'), {
      recipient,
      kind,
    })
    expect(plainBytes).toBe(content.length)
    await unpackIsolated(
      identity,
      ['one', 'two'].map((name) => ({ from: at('packed'), path: at(name), digest })),
    )
    for (const name of ['one', 'two']) expect(readFileSync(at(name)).equals(content)).toBe(true)
  })

  it('tells what is damaged, and whose failure it was', async () => {
    const { digest } = await packIsolated([content], at('whole'), { recipient, kind })
    truncateSync(at('whole'), 300_000)
    await expect(unpackIsolated(identity, [{ from: at('whole'), path: at('cut'), digest }])).rejects.toThrow('damaged: whole: ')
    await expect(unpackIsolated(identity, [{ from: at('nothing'), path: at('none'), digest }])).rejects.toThrow('ENOENT')
    await expect(packIsolated([content], at('no/such/folder'), { recipient, kind })).rejects.toThrow('ENOENT')
    const failing = async function* () {
      yield content
      throw new Error('the server has gone')
    }
    await expect(packIsolated(failing(), at('failed'), { recipient, kind })).rejects.toThrow('the server has gone')
  })

  it('ends when it is called off', async () => {
    const stop = new AbortController()
    const endless = async function* () {
      for (let count = 0; ; count += 1) {
        if (count === 10) stop.abort(new Error('stopped'))
        yield content
      }
    }
    await expect(packIsolated(endless(), at('endless'), { recipient, kind, signal: stop.signal })).rejects.toThrow('stopped')
    expect(existsSync(at('endless'))).toBe(true)
  })
})

describe('places', () => {
  it('are taken in turn, and given back by whoever failed', async () => {
    const places = createPlaces(1)
    const order: string[] = []
    const first = Promise.withResolvers<void>()
    const all = [
      places.run(async () => {
        await first.promise
        order.push('first')
        throw new Error('failed')
      }),
      places.run(async () => void order.push('second')),
    ]
    first.resolve()
    expect((await Promise.allSettled(all)).map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
    expect(order).toEqual(['first', 'second'])
  })
})
