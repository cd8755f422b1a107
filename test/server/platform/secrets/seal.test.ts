import { randomBytes } from 'node:crypto'
import { existsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { createSealer, openSealer } from '../../../../server/platform/secrets/seal.ts'
import { makeDataDir } from '../../../support/data-dir.ts'

const data = makeDataDir()
afterAll(data.remove)

describe('a sealed text', () => {
  const sealer = createSealer(randomBytes(32))
  const sealed = sealer.seal('top secret', 'env srv-a KEY')
  const body = (text: string) => Buffer.from(text.split('.')[2] ?? '', 'base64')
  const withBody = (bytes: Uint8Array) => [...sealed.split('.').slice(0, 2), Buffer.from(bytes).toString('base64')].join('.')

  test('is read again for its purpose, whatever it holds', () => {
    for (const text of ['', 'top secret', '\u0000 ünï 🦊', 'x'.repeat(100_000)]) {
      expect(sealer.open(sealer.seal(text, 'p'), 'p')).toBe(text)
    }
  })
  test('shows nothing, and no two are the same', () => {
    expect(sealed).not.toContain('secret')
    expect(sealer.seal('top secret', 'env srv-a KEY')).not.toBe(sealed)
  })
  test('is not read for another purpose', () => {
    expect(() => sealer.open(sealed, 'env srv-b KEY')).toThrow('altered or belongs elsewhere')
  })
  test('is not read with another key', () => {
    expect(() => createSealer(randomBytes(32)).open(sealed, 'env srv-a KEY')).toThrow('another master key')
  })
  test('is not read when any byte of it was changed', () => {
    for (let index = 0; index < body(sealed).length; index++) {
      const altered = Uint8Array.from(body(sealed))
      altered[index] = (altered[index] ?? 0) ^ 1
      expect(() => sealer.open(withBody(altered), 'env srv-a KEY')).toThrow('altered')
    }
  })
  test('is not read when it was cut short, however short', () => {
    for (let length = 0; length < body(sealed).length; length++) {
      expect(() => sealer.open(withBody(body(sealed).subarray(0, length)), 'env srv-a KEY'), `${length} bytes`).toThrow('altered')
    }
  })
  test.each(['', 'v1', 'v2.x.y', 'not sealed at all'])('%j is refused as another key’s', (text) => {
    expect(() => sealer.open(text, 'p')).toThrow('another master key')
  })
})

describe('the master key', () => {
  const file = join(data.dir, 'master.key')
  test('is made at first, readable by its owner alone, and found again', () => {
    const sealed = openSealer(file).seal('kept', 'p')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(openSealer(file).open(sealed, 'p')).toBe('kept')
  })
  test('of the wrong length is refused', () => {
    const short = join(data.dir, 'short.key')
    writeFileSync(short, 'c2hvcnQ=\n', { mode: 0o600 })
    expect(() => openSealer(short)).toThrow('32 bytes')
  })
  test('that others may read is refused', () => {
    const open = join(data.dir, 'open.key')
    writeFileSync(open, randomBytes(32).toString('base64'), { mode: 0o644 })
    expect(() => openSealer(open)).toThrow('chmod 600')
  })
  test('is not made anew while there are texts of a lost one', () => {
    const lost = join(data.dir, 'lost.key')
    expect(() => openSealer(lost, createSealer(randomBytes(32)).seal('kept', 'p'))).toThrow('lost.key is missing')
    expect(existsSync(lost)).toBe(false)
  })
  test('of another database is refused, the right one is not', () => {
    const sealed = openSealer(file).seal('kept', 'p')
    expect(openSealer(file, sealed).open(sealed, 'p')).toBe('kept')
    expect(() => openSealer(file, createSealer(randomBytes(32)).seal('kept', 'p'))).toThrow('another key than that in')
  })
})
