import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { probeHost, usableCgroups } from '../../../server/engines/process/host.ts'
import { installPrograms } from '../../../server/engines/process/launcher.ts'

test('a program that somebody still holds open for writing is run once it is let go of', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'host-'))
  const { steps } = installPrograms(dir)
  const descriptor = openSync(steps, 'r+')
  const letGo = setTimeout(() => closeSync(descriptor), 100)
  try {
    const host = await probeHost({
      label: `cpd-test-host-${process.pid}`,
      stepProgram: steps,
      areNamespacesOff: true,
      isNetworkShared: true,
    })
    usableCgroups(host)?.close()
    expect(host.filter).toBe('calls')
  } finally {
    clearTimeout(letGo)
    rmSync(dir, { recursive: true, force: true })
  }
})
