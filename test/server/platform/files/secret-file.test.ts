import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { isDiskFull } from '../../../../server/platform/files/disk-full.ts'
import { replaceFileSync } from '../../../../server/platform/files/replace-file.ts'
import { readSecretFile } from '../../../../server/platform/files/secret-file.ts'
import { AppError } from '../../../../shared/error.ts'

const dir = mkdtempSync(join(tmpdir(), 'cpd-secret-'))
const path = join(dir, 'secret')
afterAll(() => rmSync(dir, { recursive: true, force: true }))
beforeEach(() => {
  for (const name of readdirSync(dir)) rmSync(join(dir, name))
})

describe('a secret file', () => {
  test.each([0o640, 0o604, 0o660])('of mode %o is not read', (mode) => {
    replaceFileSync(path, 'one')
    expect(readSecretFile(path)).toBe('one')
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
