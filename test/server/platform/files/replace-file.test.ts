import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { type ReplaceOptions, replaceFile, replaceFileSync } from '../../../../server/platform/files/replace-file.ts'

const dir = mkdtempSync(join(tmpdir(), 'cpd-replace-'))
const path = join(dir, 'file')
afterAll(() => rmSync(dir, { recursive: true, force: true }))
beforeEach(() => {
  for (const name of readdirSync(dir)) rmSync(join(dir, name), { recursive: true })
})

const atOnce = async (to: string, content: string, options?: ReplaceOptions) => replaceFileSync(to, content, options)

describe.each([
  { name: 'at once', replace: atOnce },
  { name: 'while other work goes on', replace: replaceFile },
])('a file replaced $name', ({ replace }) => {
  test('is readable by its owner alone and replaced as a whole', async () => {
    await replace(path, 'one')
    await replace(path, 'two')
    expect(readFileSync(path, 'utf8')).toBe('two')
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(readdirSync(dir)).toEqual(['file'])
  })
  test('has the mode that is asked for, whatever the umask', async () => {
    await replace(path, 'one', { mode: 0o777 })
    expect(statSync(path).mode & 0o777).toBe(0o777)
  })
  test('does not take over the mode of what a crash left beside it', async () => {
    writeFileSync(`${path}.new`, 'half', { mode: 0o644 })
    await replace(path, 'whole')
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })
  test('is not written through a link', async () => {
    symlinkSync(join(dir, 'elsewhere'), `${path}.new`)
    await replace(path, 'whole')
    expect(readdirSync(dir)).toEqual(['file'])
    expect(readFileSync(path, 'utf8')).toBe('whole')
  })
  test('leaves the old one, and nothing beside it, when it cannot take its place', async () => {
    mkdirSync(path)
    await expect(replace(path, 'new', { isDurable: false })).rejects.toThrow('EISDIR')
    expect(readdirSync(dir)).toEqual(['file'])
  })
  test('comes by another name where two processes write it', async () => {
    writeFileSync(`${path}.new`, 'of the other')
    await replace(path, 'ours', { incoming: `${path}.1.new` })
    expect(readFileSync(`${path}.new`, 'utf8')).toBe('of the other')
    expect(readFileSync(path, 'utf8')).toBe('ours')
  })
})
