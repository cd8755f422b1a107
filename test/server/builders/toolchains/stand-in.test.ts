import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ensureSelfToolchain } from '../../../../server/builders/toolchains/self-toolchain.ts'
import { runProcess } from '../../../../server/platform/process/spawn.ts'

const TIMEOUT_MS = 60_000

let box: string
let toolchain: string
beforeAll(async () => {
  box = await mkdtemp(join(tmpdir(), 'stand-in-'))
  toolchain = await ensureSelfToolchain({ dir: join(box, 'toolchain'), executable: process.execPath })
  const scripts = {
    start: 'node app.js started',
    say: 'node app.js said',
    prestart: 'echo before',
    version: 'node --version',
  }
  await writeFile(join(box, 'package.json'), JSON.stringify({ name: 'app', version: '1.0.0', scripts }))
  await writeFile(join(box, 'app.js'), "console.log(process.argv.slice(2).join('|'), require('node:path').basename(process.cwd()))")
})
afterAll(() => rm(box, { recursive: true, force: true }))

/** Runs a command line as apps do, where nothing but our own executable and the system's plain tools are. */
async function run(command: string, input?: string): Promise<{ exitCode: number | null; out: string; err: string }> {
  const env = { PATH: `${join(toolchain, 'stand-in')}:${toolchain}:/bin`, HOME: join(box, 'home'), TMPDIR: box }
  const options = { cwd: box, env, ...(input === undefined ? {} : { input }) }
  const { exitCode, stdout, stderr } = await runProcess(['/bin/sh', '-c', command], options)
  return { exitCode, out: stdout.trim(), err: stderr }
}

const name = () => box.split('/').at(-1)

describe('where Bun stands in', () => {
  test.each([
    ['node -v', process.version],
    ['node --version', process.version],
    ["node -p '1 + 1'", '2'],
    ["node -e 'console.log(3)'", '3'],
    ['npm --version', `11.0.0-bun.${Bun.version}`],
    ['npm -v', `11.0.0-bun.${Bun.version}`],
    ['npm run --silent version', process.version],
  ])(
    '%s prints what it should',
    async (command, expected) => {
      expect(await run(command)).toMatchObject({ exitCode: 0, out: expected })
    },
    TIMEOUT_MS,
  )

  test.each([
    ['node app.js a -v', 'a|-v'],
    ['node --enable-source-maps app.js a', 'a'],
    ['npm run say', 'said'],
    ['npm run say -- --flag "two words"', 'said|--flag|two words'],
    ['npm -s run say x', 'said|x'],
    ['npm run -s say', 'said'],
    ['npm start', 'started'],
    ['npm start -- more', 'started|more'],
    ['npm --prefix . run say', 'said'],
    ['node --run say', 'said'],
  ])(
    '%s runs the app',
    async (command, expected) => {
      const { exitCode, out, err } = await run(command)
      expect({ exitCode, last: out.split('\n').at(-1), err }).toMatchObject({ exitCode: 0, last: `${expected} ${name()}` })
    },
    TIMEOUT_MS,
  )

  test(
    'a program that is piped in is run',
    async () => {
      expect(await run('node', 'console.log(7)')).toMatchObject({ exitCode: 0, out: '7' })
      expect(await run('node - x', 'console.log(8)')).toMatchObject({ exitCode: 0, out: '8' })
    },
    TIMEOUT_MS,
  )

  test(
    'npm installs, and npx runs what is installed',
    async () => {
      const tool = join(box, 'tool')
      await Bun.write(join(tool, 'package.json'), JSON.stringify({ name: 'tool', version: '2.0.0', bin: 'tool.js' }))
      await Bun.write(join(tool, 'tool.js'), '#!/usr/bin/env node\nconsole.log("tool", process.argv.slice(2).join("|"))')
      const installed = await run('npm install --no-audit ./tool')
      expect(installed.exitCode, installed.err).toBe(0)
      expect(JSON.parse(await readFile(join(box, 'package.json'), 'utf8')).dependencies).toHaveProperty('tool')
      await rm(join(box, 'node_modules'), { recursive: true })
      expect((await run('npm ci --omit=dev')).exitCode).toBe(0)
      for (const command of ['npx tool a', 'npx --yes tool a', 'npm exec tool a', 'npm exec -- tool a']) {
        expect(await run(command), command).toMatchObject({ exitCode: 0, out: 'tool a' })
      }
    },
    TIMEOUT_MS,
  )

  test(
    'what is not known is refused, and what does no harm passed over',
    async () => {
      expect(await run('npm publish')).toMatchObject({
        exitCode: 1,
        err: expect.stringContaining('npm publish: Bun stands in for npm here'),
      })
      expect((await run('npm install -g tool')).err).toContain('npm install -g')
      expect(await run('npm audit')).toMatchObject({ exitCode: 0, err: expect.stringContaining('passed over') })
      expect((await run('npm run missing')).exitCode).not.toBe(0)
    },
    TIMEOUT_MS,
  )
})
