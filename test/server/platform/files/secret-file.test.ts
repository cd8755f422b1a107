import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { isDiskFull } from '../../../../server/platform/files/disk-full.ts'
import { readSecretFile, writeSecretFile } from '../../../../server/platform/files/secret-file.ts'
import { AppError } from '../../../../shared/error.ts'

const dir = mkdtempSync(join(tmpdir(), 'cpd-secret-'))
const path = join(dir, 'secret')
afterAll(() => rmSync(dir, { recursive: true, force: true }))
beforeEach(() => {
  for (const name of readdirSync(dir)) rmSync(join(dir, name))
})

describe('a secret file', () => {
  test('is readable by its owner alone and replaced as a whole', () => {
    writeSecretFile(path, 'one')
    writeSecretFile(path, 'two')
    expect(readSecretFile(path)).toBe('two')
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(readdirSync(dir)).toEqual(['secret'])
  })
  test('does not take over the mode of what a crash left beside it', () => {
    writeFileSync(`${path}.new`, 'half', { mode: 0o644 })
    writeSecretFile(path, 'whole')
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })
  test('is not written through a link', () => {
    symlinkSync(join(dir, 'elsewhere'), `${path}.new`)
    writeSecretFile(path, 'whole')
    expect(readdirSync(dir)).toEqual(['secret'])
    expect(readFileSync(path, 'utf8')).toBe('whole')
  })
  test.each([0o640, 0o604, 0o660])('of mode %o is not read', (mode) => {
    writeSecretFile(path, 'one')
    chmodSync(path, mode)
    expect(() => readSecretFile(path)).toThrow('chmod 600')
  })
})

describe('a full disk', () => {
  const coded = (code: string) => Object.assign(new Error('failed'), { code })
  test.each(['ENOSPC', 'EDQUOT', 'SQLITE_FULL'])('is known by %s, also as the cause of another error', (code) => {
    expect(isDiskFull(coded(code))).toBe(true)
    expect(isDiskFull(new AppError('unavailable', 'not kept', { cause: coded(code) }))).toBe(true)
  })
  test('is not seen in other errors', () => {
    for (const error of [coded('ENOENT'), new Error('ENOSPC'), 'ENOSPC', undefined]) expect(isDiskFull(error)).toBe(false)
  })
})
