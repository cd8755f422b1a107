import { appendFileSync, mkdtempSync, renameSync, rmSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { GrowingFile } from '../../../../../server/platform/files/growing/growing-file.ts'

let dir = ''
let path = ''
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'growing-'))
  path = join(dir, 'out')
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const open = (options = {}) => new GrowingFile(path, { mayBeEmptied: true, ...options })
const textOf = (part: { bytes: Uint8Array } | undefined) => part && Buffer.from(part.bytes).toString()

test.each(['', 'no end of a line yet'])(
  'a file with %j in it has been seen once it was read, and is not read again until it grows',
  async (text) => {
    const file = open()
    expect(file.hasNew()).toBe(false)
    expect(await file.read({ maxBytes: 100 })).toBeUndefined()
    writeFileSync(path, text)
    expect(file.hasNew()).toBe(true)
    expect(textOf(await file.read({ maxBytes: 100 }))).toBe(text)
    expect(file.hasNew()).toBe(false)
    appendFileSync(path, '!')
    expect(file.hasNew()).toBe(true)
  },
)

test('a cursor leads on where it was taken, also within what was read and for another reader', async () => {
  writeFileSync(path, 'one two three')
  const first = await open().read({ maxBytes: 7 })
  expect(textOf(first)).toBe('one two')
  expect(first).toMatchObject({ skippedBytes: 0, unreadBytes: 6 })
  const next = await open().read({ after: first?.cursorAt(4) ?? '', maxBytes: 100 })
  expect(textOf(next)).toBe('two three')
  expect(next?.unreadBytes).toBe(0)
})

test('of what is far behind only the newest is read, and it is told how much was not', async () => {
  writeFileSync(path, '0123456789')
  const file = open()
  const part = await file.read({ after: (await file.read({ maxBytes: 1 }))?.cursorAt(1) ?? '', maxBytes: 2, newestBytes: 4 })
  expect(textOf(part)).toBe('67')
  expect(part).toMatchObject({ skippedBytes: 5, unreadBytes: 2 })
  expect(await file.read({ maxBytes: 0 })).toMatchObject({ skippedBytes: 0, unreadBytes: 10 })
})

test('another file of the same path is read from its start, a shorter one too', async () => {
  writeFileSync(path, 'before')
  const file = open()
  const after = (await file.read({ maxBytes: 100 }))?.cursorAt(6) ?? ''
  // Beside the first, so that it gets another inode: one that is free is given out again, within the same tick of the clock.
  writeFileSync(`${path}.new`, 'a new one')
  renameSync(`${path}.new`, path)
  expect(textOf(await file.read({ after, maxBytes: 100 }))).toBe('a new one')
  const longer = (await file.read({ maxBytes: 100 }))?.cursorAt(9) ?? ''
  truncateSync(path, 1)
  expect(textOf(await file.read({ after: longer, maxBytes: 100 }))).toBe('a')
})

test('gives back the space of what was read, and empties the file only where it may and can do no better', async () => {
  writeFileSync(path, 'x'.repeat(1_000_000))
  const file = open()
  const end = (await file.read({ maxBytes: 0, newestBytes: 0 }))?.cursorAt(0) ?? ''
  expect(await file.release(end)).toBe(end)
  expect(statSync(path).size).toBe(1_000_000)
  expect(statSync(path).blocks * 512).toBeLessThan(100_000)

  const releaseSpace = () => false
  expect(await open({ mayBeEmptied: false, releaseSpace }).release(end)).toBe(end)
  appendFileSync(path, 'unread')
  expect(await open({ releaseSpace }).release(end)).toBeUndefined()
  const newEnd = (await file.read({ maxBytes: 0, newestBytes: 0 }))?.cursorAt(0) ?? ''
  const begunAnew = await open({ releaseSpace }).release(newEnd)
  expect(statSync(path).size).toBe(0)
  appendFileSync(path, 'next')
  expect(textOf(await file.read({ after: begunAnew ?? '', maxBytes: 100 }))).toBe('next')
})

test('follows no link, and can be removed twice', async () => {
  writeFileSync(join(dir, 'secret'), 'not for the log')
  symlinkSync(join(dir, 'secret'), path)
  await expect(open().read({ maxBytes: 100 })).rejects.toThrow('ELOOP')
  await open().remove()
  await open().remove()
  expect(await open().read({ maxBytes: 100 })).toBeUndefined()
})
