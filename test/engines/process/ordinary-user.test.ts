import { chownSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { closedDirsAbove } from '../../../server/engines/process/closed-dirs.ts'
import { runProcess } from '../../../server/platform/process/spawn.ts'

const repository = join(import.meta.dirname, '../../..')
const user = { uid: 61_901, gid: 61_901 }

/** Run by an ordinary user, these are in user namespaces and in none. */
test.each(['engine', 'plain'])(
  'an ordinary user finds the contract kept: %s.test.ts',
  async (name) => {
    // Whoever runs all tests as an ordinary user has run them so already.
    if (process.getuid?.() !== 0) return
    expect(closedDirsAbove([join(repository, 'server'), process.execPath], user), 'folders that other users must be able to enter').toEqual(
      [],
    )
    const home = mkdtempSync(join(tmpdir(), 'home-'))
    chownSync(home, user.uid, user.gid)
    const asUser = ['setpriv', `--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups']
    const vitest = [
      join(repository, 'node_modules/vitest/vitest.mjs'),
      'run',
      '--config',
      '.vitest.config.ts',
      '--configLoader',
      'native',
      '--cache=false',
    ]
    const { exitCode, stdout, stderr } = await runProcess(
      [...asUser, process.execPath, '--bun', ...vitest, '--reporter=dot', `test/engines/process/${name}.test.ts`],
      { cwd: repository, env: { PATH: `/usr/bin:/bin:${dirname(process.execPath)}`, BUN_BE_BUN: '1', HOME: home }, timeoutMs: 600_000 },
    )
    rmSync(home, { recursive: true, force: true })
    expect(exitCode, `${stdout}\n${stderr}`).toBe(0)
  },
  600_000,
)
