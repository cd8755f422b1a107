import { mkdtempSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { runProcess, spawnProcess } from '../../../../server/platform/process/spawn.ts'

const dir = mkdtempSync(join(tmpdir(), 'spawn-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

describe('spawnProcess', () => {
  test('hands over exactly the environment given', async () => {
    const child = spawnProcess(['/usr/bin/env'], { env: { ONLY: 'this one' }, stdout: 'pipe' })
    expect(await new Response(child.stdout).text()).toBe('ONLY=this one\n')
  })

  test('hands over an empty environment when none is given', async () => {
    const child = spawnProcess(['/usr/bin/env'], { stdout: 'pipe' })
    expect(await new Response(child.stdout).text()).toBe('')
  })

  test('passes arguments to the program untouched', async () => {
    const hostile = ['$(id)', '`id`', ';id', 'a b', '\n', '*', '']
    const child = spawnProcess(['/usr/bin/printf', '[%s]', ...hostile], { stdout: 'pipe' })
    expect(await new Response(child.stdout).text()).toBe(hostile.map((text) => `[${text}]`).join(''))
  })

  test('appends output to a private file', async () => {
    const path = join(dir, 'out')
    for (const word of ['one', 'two']) {
      const child = spawnProcess(['/bin/sh', '-c', `echo ${word}; echo ${word}! >&2`], { stdout: { appendTo: path }, stderr: 'stdout' })
      await child.exited
    }
    expect(readFileSync(path, 'utf8')).toBe('one\none!\ntwo\ntwo!\n')
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  test('puts a detached child into a session of its own', async () => {
    const child = spawnProcess(['/bin/sleep', '30'], { detached: true })
    const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
    expect(Number(fields[3])).toBe(child.pid)
    child.kill('SIGTERM')
    expect(await child.exited).toEqual({ exitCode: null, signal: 'SIGTERM' })
  })

  test('reports the exit code to the listener', async () => {
    const exit = await new Promise((resolve) => spawnProcess(['/bin/sh', '-c', 'exit 7'], { onExit: resolve }))
    expect(exit).toEqual({ exitCode: 7, signal: null })
  })

  test('refuses an output file it cannot make, or that is a link', () => {
    symlinkSync('/dev/null', join(dir, 'link'))
    for (const appendTo of [join(dir, 'missing/out'), join(dir, 'link')]) {
      expect(() => spawnProcess(['/bin/true'], { stdout: { appendTo } })).toThrow(/Could not open the output file/)
    }
  })

  test('names the program that cannot be started', () => {
    expect(() => spawnProcess(['/no/such/program'])).toThrow(/Could not start \/no\/such\/program/)
  })
})

describe('runProcess', () => {
  test('returns what the tool wrote and its exit code', async () => {
    const result = await runProcess(['/bin/sh', '-c', 'cat; echo bad >&2; exit 3'], { input: 'given', env: { PATH: '/bin:/usr/bin' } })
    expect(result).toEqual({ exitCode: 3, signal: null, stdout: 'given', stderr: 'bad\n' })
  })

  test('keeps no more output than asked for', async () => {
    const result = await runProcess(['/usr/bin/head', '-c', '1000000', '/dev/zero'], { maxOutputBytes: 1000 })
    expect(result.stdout.length).toBe(1000)
    expect(result.exitCode).toBe(0)
  })

  test('survives a tool that does not read its input', async () => {
    const result = await runProcess(['/bin/true'], { input: 'x'.repeat(1_000_000) })
    expect(result.exitCode).toBe(0)
  })

  test('stops a tool that takes too long, children and all', async () => {
    const run = runProcess(['/bin/sh', '-c', '/bin/sleep 30; true'], { timeoutMs: 100 })
    await expect(run).rejects.toThrow('/bin/sh did not finish within 0.1 s and was stopped')
  })

  test('ends with the reason of the abort', async () => {
    const controller = new AbortController()
    const run = runProcess(['/bin/sleep', '30'], { signal: controller.signal })
    controller.abort(new Error('not wanted any more'))
    await expect(run).rejects.toThrow('not wanted any more')
  })
})
