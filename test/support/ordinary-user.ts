import { chownSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { runProcess } from '../../server/platform/process/spawn.ts'

const repository = join(import.meta.dirname, '../..')
const user = { uid: 61_902, gid: 61_902 }

/** Runs a file of tests in a process of an ordinary user, who has no control groups. Only root can. */
export async function testAsOrdinaryUser(file: string, timeoutMs: number): Promise<{ exitCode: number | null; output: string }> {
  const home = mkdtempSync(join(tmpdir(), 'home-'))
  chownSync(home, user.uid, user.gid)
  const asUser = ['setpriv', `--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups']
  const program = [process.execPath, '--bun', join(repository, 'node_modules/vitest/vitest.mjs'), 'run', '--config', '.vitest.config.ts']
  try {
    const { exitCode, stdout, stderr } = await runProcess(
      [...asUser, ...program, '--configLoader', 'native', '--cache=false', '--reporter=dot', file],
      { cwd: repository, env: { PATH: `/usr/bin:/bin:${dirname(process.execPath)}`, BUN_BE_BUN: '1', HOME: home }, timeoutMs },
    )
    return { exitCode, output: `${stdout}\n${stderr}` }
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}
