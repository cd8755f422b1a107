import { closeSync, constants, mkdirSync, openSync, readSync, symlinkSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openInside } from '../../../../server/ingress/static/open-inside.ts'
import { runProcess, spawnProcess } from '../../../../server/platform/process/spawn.ts'
import { systemEnv } from '../../../../server/platform/process/system-tools.ts'
import { until } from '../../../support/until.ts'

let box = ''
let root = ''
beforeEach(async () => {
  box = await mkdtemp(join(tmpdir(), 'open-inside-'))
  root = join(box, 'release')
  mkdirSync(join(root, 'sub'), { recursive: true })
  writeFileSync(join(root, 'sub/page'), 'page')
})
afterEach(() => rm(box, { recursive: true, force: true }))

test('opens files, through links inside as well, and nothing that is absent or outside', async () => {
  writeFileSync(join(box, 'outside'), 'outside')
  symlinkSync('sub/page', join(root, 'link'))
  symlinkSync('../outside', join(root, 'out'))
  symlinkSync('circle', join(root, 'circle'))
  for (const path of ['sub/page', 'link']) {
    const handle = await openInside(root, join(root, path))
    expect(await handle?.readFile('utf8'), path).toBe('page')
    await handle?.close()
  }
  for (const path of ['out', 'circle', 'none', 'sub/page/x']) expect(await openInside(root, join(root, path)), path).toBeUndefined()
})

test('S25: a pipe outside that a link leads to is not even opened', async () => {
  const pipe = join(box, 'pipe')
  await runProcess(['mkfifo', pipe], { env: systemEnv })
  symlinkSync('../pipe', join(root, 'link'))
  // A pipe waits until somebody opens the other end, and what it is given is lost when that is closed at once.
  const writer = spawnProcess(['/bin/sh', '-c', 'echo begun; echo waited >"$0"', pipe], { env: systemEnv, stdout: 'pipe' })
  try {
    await writer.stdout?.getReader().read()
    for (let round = 0; round < 100; round++) expect(await openInside(root, join(root, 'link'))).toBeUndefined()
    const end = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      expect(await until('the writer has written', () => readSome(end))).toBe('waited\n')
    } finally {
      closeSync(end)
    }
  } finally {
    writer.kill('SIGKILL')
    await writer.exited
  }
})

function readSome(end: number): string | undefined {
  try {
    const bytes = Buffer.alloc(100)
    return bytes.toString('utf8', 0, readSync(end, bytes)) || undefined
  } catch {
    // Nothing has come yet.
    return undefined
  }
}
