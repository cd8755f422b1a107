import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { packIsolated, packOutputIsolated, unpackIsolated } from '../../../../server/apps/backups/repository/pack-isolated.ts'
import { createPlaces } from '../../../../server/platform/work/places.ts'
import { until } from '../../../support/until.ts'

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
const awaited = { isAwaited: true }
const never = new AbortController().signal

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
      awaited,
    )
    for (const name of ['one', 'two']) expect(readFileSync(at(name)).equals(content)).toBe(true)
  })

  it('tells what is damaged, and whose failure it was', async () => {
    const { digest } = await packIsolated([content], at('whole'), { recipient, kind })
    truncateSync(at('whole'), 300_000)
    await expect(unpackIsolated(identity, [{ from: at('whole'), path: at('cut'), digest }], awaited)).rejects.toThrow('damaged: whole: ')
    await expect(unpackIsolated(identity, [{ from: at('nothing'), path: at('none'), digest }], awaited)).rejects.toThrow('ENOENT')
    await expect(packIsolated([content], at('no/such/folder'), { recipient, kind })).rejects.toThrow('ENOENT')
    const failing = async function* () {
      yield content
      throw new Error('the server has gone')
    }
    await expect(packIsolated(failing(), at('failed'), { recipient, kind })).rejects.toThrow('the server has gone')
  })

  it('packs what a program writes, and one of the files in it', async () => {
    writeFileSync(at('inner'), 'a manifest')
    writeFileSync(at('other'), content)
    const output = { recipient, archivePath: at('archive'), entry: { name: 'inner', path: at('entry') } }
    const argv = ['/usr/bin/tar', '-cf', '-', '-C', dir, 'other', 'inner']
    const { archive, entry } = await packOutputIsolated({ ...output, command: { name: 'tar', argv, env: {} } }, never)
    const files = [
      { from: at('archive'), path: at('plain.tar'), digest: archive.digest },
      { from: at('entry'), path: at('plain.entry'), digest: entry.digest },
    ]
    await unpackIsolated(identity, files, { isAwaited: false })
    expect(readFileSync(at('plain.entry'), 'utf8')).toBe('a manifest')
    expect(readFileSync(at('plain.tar')).includes(content)).toBe(true)
  })

  it.each([
    ['fails after some output', ['/usr/bin/tar', '-cf', '-', '-C', dir, 'other', 'nothing'], /^tar failed: /],
    ['has not the file', ['/usr/bin/tar', '-cf', '-', '-C', dir, 'other'], 'it has no inner'],
    ['is none', ['/no/such/program'], 'no/such/program'],
  ])('keeps nothing of a program that %s', async (what, argv, words) => {
    writeFileSync(at('other'), content)
    const output = { recipient, archivePath: at(`${what}.archive`), entry: { name: 'inner', path: at(`${what}.entry`) } }
    await expect(packOutputIsolated({ ...output, command: { name: 'tar', argv, env: {} } }, never)).rejects.toThrow(words)
  })

  it('ends a program with itself when it is called off', async () => {
    const stop = new AbortController()
    const argv = ['/usr/bin/setpriv', '--pdeathsig=KILL', '/bin/sh', '-c', 'echo $$ > "$1"; exec sleep 600', 'sh', at('pid')]
    const output = { recipient, archivePath: at('stopped'), entry: { name: 'inner', path: at('stopped.entry') } }
    const packing = packOutputIsolated({ ...output, command: { name: 'sleep', argv, env: {} } }, stop.signal)
    await until('the program runs', () => existsSync(at('pid')) && readFileSync(at('pid'), 'utf8').endsWith('\n'))
    stop.abort(new Error('stopped'))
    await expect(packing).rejects.toThrow('stopped')
    const pid = readFileSync(at('pid'), 'utf8').trim()
    await until('the program has ended', () => !existsSync(`/proc/${pid}`))
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
