import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { measureRemoved } from '../../../../server/engines/process/placing/removed-files.ts'
import { spawnProcess } from '../../../../server/platform/process/spawn.ts'
import { until } from '../../../support/until.ts'

const OPENER = 'exec 3>"$1"; rm "$1"; head -c 1000000 /dev/zero >&3; echo ready; while :; do exec 5</dev/null; exec 5<&-; done'

test('a removed file is measured though its process opens and closes others without end', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'cpd-removed-'))
  const child = spawnProcess(['sh', '-c', OPENER, 'sh', join(dir, 'file')], { env: { PATH: '/usr/bin:/bin' }, stdout: 'pipe' })
  try {
    await child.stdout?.getReader().read()
    const uid = process.getuid?.() ?? 0
    const measured = () => measureRemoved(new Set([uid]), { device: statSync(dir).dev, folder: dir }).get(uid) ?? 0
    await until('it is found', () => measured() >= 1_000_000)
    for (let times = 0; times < 200; times++) expect(measured()).toBeGreaterThanOrEqual(1_000_000)
  } finally {
    child.kill('SIGKILL')
    await child.exited
    rmSync(dir, { recursive: true })
  }
})

const MAPPER = `const [path] = process.argv.slice(-1)
const mapped = Bun.mmap(path)
require('node:fs').unlinkSync(path)
console.log('ready')
setInterval(() => mapped[0], 1000)`

test.runIf(process.getuid?.() === 0)('a removed file is measured that its process has mapped and not open', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'cpd-mapped-'))
  const path = join(dir, 'file')
  writeFileSync(path, new Uint8Array(1_000_000).fill(1))
  const child = spawnProcess([process.execPath, '-e', MAPPER, path], { env: { PATH: '/usr/bin:/bin' }, stdout: 'pipe' })
  try {
    await child.stdout?.getReader().read()
    const place = { device: statSync(dir).dev, folder: dir }
    await until('it is found', () => (measureRemoved(new Set([0]), place).get(0) ?? 0) >= 1_000_000)
  } finally {
    child.kill('SIGKILL')
    await child.exited
    rmSync(dir, { recursive: true })
  }
})
