import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { codeOf, stepProgram } from '../../../../server/engines/process/step-program/elf.ts'
import { AARCH64, X86_64 } from '../../../../server/engines/process/step-program/machine-code.ts'
import { type Architecture, OWN_ARCHITECTURE } from '../../../../server/engines/process/step-program/numbers.ts'
import { renderSteps, type Step, type StepFile } from '../../../../server/engines/process/step-program/steps.ts'
import { runProcess } from '../../../../server/platform/process/spawn.ts'

const PATH = '/usr/bin:/bin'
const dir = mkdtempSync(join(tmpdir(), 'step-program-'))
const program = join(dir, 'steps')
beforeAll(() => {
  writeFileSync(program, stepProgram(OWN_ARCHITECTURE))
  chmodSync(program, 0o755)
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

let count = 0
async function run(file: StepFile, argv: string[], env: Record<string, string> = {}) {
  const path = join(dir, String(++count))
  writeFileSync(path, renderSteps(file, OWN_ARCHITECTURE))
  return await runProcess([program, path, ...argv], { env })
}

const chdir = (path: string, failure?: string): Step => ({ call: 'chdir', args: [path], ...(failure !== undefined && { failure }) })

describe('the step program', () => {
  test('makes the calls in order and becomes the rest of its arguments', async () => {
    const { stdout } = await run({ steps: [chdir('/usr'), chdir('bin')] }, ['/bin/pwd', '-P'])
    expect(stdout).toMatch(/\/bin\n$/)
  })

  test('ends with the words of a call that failed, where there are some', async () => {
    const { stdout, stderr, exitCode } = await run({ steps: [chdir('/nowhere'), chdir('/nowhere', 'no such place')] }, ['/bin/pwd'])
    expect({ stdout, stderr, exitCode }).toEqual({ stdout: '', stderr: 'no such place\n', exitCode: 125 })
  })

  test('gives what a call returned to a later one', async () => {
    const opened: Step = { call: 'openat', args: [-100, '/etc/passwd', 0], failure: 'not opened' }
    const doubled: Step = { call: 'dup3', args: [{ resultOf: opened }, 0, 0], failure: 'not doubled' }
    const { stdout } = await run({ steps: [opened, doubled] }, ['/bin/cat'])
    expect(stdout).toContain('root:')
  })

  test('keeps the variables of a prefix only, without it', async () => {
    const env = { cpd_env_A: '1', OTHER: 'x', cpd_env_B: 'two words', PWD: '/', cpd_env: 'short' }
    const { stdout } = await run({ steps: [], envPrefix: 'cpd_env_' }, ['/usr/bin/env'], env)
    expect(stdout).toBe('A=1\nB=two words\n')
    expect((await run({ steps: [] }, ['/usr/bin/env'], { ONE: '1' })).stdout).toBe('ONE=1\n')
    expect((await run({ steps: [], envPrefix: 'cpd_env_' }, ['/usr/bin/env'], { NONE: '' })).stdout).toBe('')
  })

  test('says so with 125 when there is no program or no list', async () => {
    expect((await run({ steps: [] }, ['/nowhere'])).exitCode).toBe(125)
    expect((await runProcess([program, join(dir, 'missing'), '/bin/true'], { env: {} })).exitCode).toBe(125)
  })

  test('refuses more than the program would read', () => {
    expect(() => renderSteps({ steps: [chdir('x'.repeat(200_000))] }, OWN_ARCHITECTURE)).toThrow(RangeError)
  })
})

/** GNU as for each processor, and what runs a program of another one; where they are missing the bytes have only been looked at before. */
const ASSEMBLERS: Record<Architecture, string> = { x64: 'x86_64-linux-gnu-as', arm64: 'aarch64-linux-gnu-as' }
const isThere = (tool: string) => existsSync(`/usr/bin/${tool}`)

describe.each([
  ['x64', X86_64, '.intel_syntax noprefix\n'],
  ['arm64', AARCH64, ''],
] as const)('the program for %s', (architecture, listing, head) => {
  test('has the bytes that GNU as makes of its words', async () => {
    if (!isThere(ASSEMBLERS[architecture])) return
    const assembler = ASSEMBLERS[architecture]
    const [source, object, binary] = ['s', 'o', 'bin'].map((ending) => join(dir, `${architecture}.${ending}`)) as [string, string, string]
    writeFileSync(source, `${head}.globl _start\n${listing.map(([, text]) => text).join('\n')}\n`)
    await runProcess([assembler, source, '-o', object], { env: { PATH } })
    await runProcess([assembler.replace(/as$/, 'objcopy'), '-O', 'binary', '-j', '.text', object, binary], { env: { PATH } })
    expect(Buffer.from(await Bun.file(binary).bytes()).toString('hex')).toBe(Buffer.from(codeOf(listing)).toString('hex'))
  })
})

test('the program for arm64 runs there', async () => {
  if (!isThere('qemu-aarch64')) return
  const [path, list, missing] = [join(dir, 'arm64'), join(dir, 'arm64-list'), join(dir, 'arm64-missing')]
  writeFileSync(path, stepProgram('arm64'))
  chmodSync(path, 0o755)
  writeFileSync(list, renderSteps({ steps: [chdir('/usr')], envPrefix: 'cpd_env_' }, 'arm64'))
  writeFileSync(missing, renderSteps({ steps: [chdir('/nowhere', 'no such place')] }, 'arm64'))
  const inQemu = (file: string, argv: string[]) =>
    runProcess(['/usr/bin/qemu-aarch64', path, file, ...argv], { env: { PATH, cpd_env_A: 'kept', OTHER: 'x' } })
  expect((await inQemu(list, ['/bin/sh', '-c', 'pwd; env'])).stdout).toBe('/usr\nA=kept\nPWD=/usr\n')
  expect(await inQemu(missing, ['/bin/true'])).toMatchObject({ exitCode: 125, stderr: 'no such place\n' })
})
