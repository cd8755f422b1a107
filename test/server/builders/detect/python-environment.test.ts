import { mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { detectBuild } from '../../../../server/builders/detect/detect.ts'
import { runProcess } from '../../../../server/platform/process/spawn.ts'
import { everyTool, sourceOf } from './source.ts'

test('both heads that pip writes find python beside the script after a move, and other scripts stay as they are', async () => {
  const box = await mkdtemp(join(tmpdir(), 'venv-'))
  try {
    const built = join(box, 'built')
    const bin = join(built, '.venv/bin')
    await mkdir(bin, { recursive: true })
    await symlink('/usr/bin/python3', join(bin, 'python'))
    const body = 'import sys\nprint(sys.executable, sys.argv[1:])\n'
    const scripts = {
      short: `#!${bin}/python3.11\n${body}`,
      long: `#!/bin/sh\n'''exec' "${bin}/python3" "$0" "$@"\n' '''\n${body}`,
      other: '#!/bin/sh\necho other\n',
    }
    for (const [name, text] of Object.entries(scripts)) await writeFile(join(bin, name), text, { mode: 0o755 })
    const plan = detectBuild({
      files: sourceOf({ 'requirements.txt': 'x', 'main.py': '' }),
      settings: { type: 'web_service' },
      toolchains: everyTool,
    })
    const step = plan.steps.find(({ name }) => name === 'make .venv movable')
    const made = await runProcess(['/bin/sh', '-c', step?.command ?? ''], { cwd: built, env: { PATH: `${bin}:/usr/bin:/bin` } })
    expect(made).toMatchObject({ exitCode: 0, stderr: '' })
    const moved = join(box, 'moved to another place')
    await rename(built, moved)
    for (const name of ['short', 'long']) {
      const { stdout } = await runProcess([join(moved, '.venv/bin', name), 'a b'], { cwd: '/', env: { PATH: '/usr/bin:/bin' } })
      expect(stdout).toBe(`${join(moved, '.venv/bin/python')} ['a b']\n`)
    }
    expect(await readFile(join(moved, '.venv/bin/other'), 'utf8')).toBe(scripts.other)
  } finally {
    await rm(box, { recursive: true, force: true })
  }
})
