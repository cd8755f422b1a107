import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fileState, readTail, startTail } from '../../../../server/telemetry/logs/tail.ts'

test.each(['', 'no end of a line yet'])('a file with %j in it has been seen, and is not read again until it grows', (text) => {
  const dir = mkdtempSync(join(tmpdir(), 'tail-'))
  try {
    const path = join(dir, 'out')
    writeFileSync(path, text)
    const tail = startTail({ path, resource: 'srv-one', instance: 'srv-one-1', deployId: 'dep-one', type: 'app' }, undefined)
    const limits = { maxLineBytes: 1024, maxUnreadBytes: 1024 * 1024, rate: undefined }
    expect(readTail(tail, limits, { isFinal: false, now: Date.now() })).toBeUndefined()
    expect({ file: tail.seenFile, sizeBytes: tail.seenBytes }).toEqual(fileState(path))
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
})
