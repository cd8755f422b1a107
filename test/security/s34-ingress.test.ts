import { mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openInside } from '../../server/ingress/static/open-inside.ts'

let dir: string
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'cpd-s34-'))
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const isOpen = (path: string): boolean =>
  readdirSync('/proc/self/fd').some((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`) === path
    } catch {
      return false
    }
  })

test('S34: a file is closed again when its root cannot be found, or does not hold it', async () => {
  const path = join(dir, 'page.html')
  writeFileSync(path, 'page')
  await expect(openInside(join(dir, 'gone'), path)).rejects.toThrow('ENOENT')
  expect(isOpen(path)).toBe(false)
  expect(await openInside('/proc', path)).toBeUndefined()
  expect(isOpen(path)).toBe(false)
  const handle = await openInside(dir, path)
  expect(isOpen(path)).toBe(true)
  await handle?.close()
})
