import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { measureRemoved } from '../../../server/disk-space/measure.ts'
import { spawnProcess } from '../../../server/process/spawn.ts'
import { until } from '../../support/until.ts'

const OPENER = 'exec 3>"$1"; rm "$1"; head -c 1000000 /dev/zero >&3; echo ready; while :; do exec 5</dev/null; exec 5<&-; done'

test('a removed file is measured though its process opens and closes others without end', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'cpd-removed-'))
  const child = spawnProcess(['sh', '-c', OPENER, 'sh', join(dir, 'file')], { env: { PATH: '/usr/bin:/bin' }, stdout: 'pipe' })
  try {
    await child.stdout?.getReader().read()
    const uid = process.getuid?.() ?? 0
    const measured = () => measureRemoved(new Set([uid]), statSync(dir).dev).get(uid) ?? 0
    await until('it is found', () => measured() >= 1_000_000)
    for (let times = 0; times < 200; times++) expect(measured()).toBeGreaterThanOrEqual(1_000_000)
  } finally {
    child.kill('SIGKILL')
    await child.exited
    rmSync(dir, { recursive: true })
  }
})
