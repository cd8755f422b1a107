import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ALONE } from '../../../../server/apps/datastores/alone.ts'
import { type SpawnedProcess, spawnProcess } from '../../../../server/platform/process/spawn.ts'
import { until } from '../../../support/until.ts'

const start = (volume: string, script: string): SpawnedProcess =>
  spawnProcess(['/bin/sh', '-c', `set -eu\n${ALONE}\n${script}`], {
    env: { PATH: '/usr/bin:/bin', CPD_VOLUME: volume },
    ...{ cwd: '/', stdout: 'pipe', stderr: 'pipe' },
  })

const lineOf = async ({ stdout }: SpawnedProcess): Promise<string> => {
  for await (const chunk of stdout ?? []) return new TextDecoder().decode(chunk).trim()
  return ''
}

/** Whether a process waits for a lock, as the kernel tells. */
const isWaiting = async (pid: number): Promise<boolean> => {
  const below = await Bun.file(`/proc/${pid}/task/${pid}/children`).text()
  const waiting = (await Bun.file('/proc/locks').text()).split('\n').filter((line) => line.includes('->'))
  return waiting.some((line) =>
    below
      .trim()
      .split(' ')
      .includes(line.split(/\s+/)[5] ?? ''),
  )
}

test('a second server waits until the last process of the first has ended, though its own has', async () => {
  const volume = mkdtempSync(join(tmpdir(), 'alone-'))
  try {
    const first = start(volume, 'sleep 300 < /dev/null > /dev/null 2>&1 &\necho $!')
    const left = Number(await lineOf(first))
    await first.exited
    const second = start(volume, 'echo runs')
    await until('the second waits', () => isWaiting(second.pid))
    process.kill(left, 'SIGKILL')
    expect(await lineOf(second)).toBe('runs')
    expect((await second.exited).exitCode).toBe(0)
  } finally {
    rmSync(volume, { recursive: true })
  }
})
