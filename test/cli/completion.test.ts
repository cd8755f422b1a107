import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { cpctl, temporaryFolder } from './terminal.ts'

/** What bash would offer after these words. */
async function offered(...words: string[]): Promise<string[]> {
  const folder = await temporaryFolder()
  const script = join(folder.path, 'complete.bash')
  const { stdout } = await cpctl(['completion', 'bash'])
  await writeFile(script, `${stdout}\nCOMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _cpctl; printf '%s\\n' "\${COMPREPLY[@]}"\n`)
  const child = Bun.spawnSync(['bash', script, 'cpctl', ...words])
  await folder.remove()
  expect(child.stderr.toString()).toBe('')
  return child.stdout.toString().trim().split('\n')
}

test('bash completes commands, nested commands and options', async () => {
  expect(await offered('sta')).toEqual(['status'])
  expect(await offered('services', 'sc')).toEqual(['scale'])
  expect(await offered('--json', 'services', 'list', '--t')).toEqual(['--type'])
  expect(await offered('roles', '')).toEqual(['list', 'show', 'create', 'update', 'delete'])
})

test('the scripts of all shells name every command', async () => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { exitCode, stdout } = await cpctl(['completion', shell])
    expect(exitCode).toBe(0)
    for (const place of ['deploy', 'services list', 'env import', 'secret-files set', 'domains verify', 'keys revoke'])
      expect(stdout).toContain(`'${place}'`)
  }
})

test('an unknown shell is a usage error', async () => {
  expect((await cpctl(['completion', 'csh'])).exitCode).toBe(2)
})
