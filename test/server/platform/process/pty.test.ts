import { afterEach, expect, test, vi } from 'vitest'
import { openPty, type Pty } from '../../../../server/platform/process/pty.ts'

let pty: Pty | undefined
afterEach(() => {
  vi.restoreAllMocks()
  pty?.close()
})

function open() {
  const decoder = new TextDecoder()
  const output = { text: '' }
  const one = openPty({ columns: 80, rows: 24, onOutput: (bytes) => (output.text += decoder.decode(bytes, { stream: true })) })
  pty = one
  /** Runs a script to its end while nobody reads the terminal. */
  const run = (script: string, stdin: 'ignore' | number = 'ignore') =>
    Bun.spawnSync(['sh', '-c', script], { stdin, stdout: one.descriptor, env: { PATH: '/usr/bin:/bin' } })
  return { pty: one, output, run }
}

/** From here on time passes, and nothing is read in it. */
const readNothingInTime = () =>
  vi.spyOn(Bun, 'sleep').mockImplementation(async (ms) => {
    Bun.sleepSync(Number(ms))
  })

test('the last output is told before a terminal has settled, however late it is read', async () => {
  const { pty, output, run } = open()
  run('echo last words')
  readNothingInTime()
  await pty.settled()
  expect(output.text).toBe('last words\r\n')
})

test('a terminal settles twice, and tells what came in between', async () => {
  const { pty, output, run } = open()
  run('echo first')
  await pty.settled()
  run('echo second')
  await pty.settled()
  expect(output.text).toBe('first\r\nsecond\r\n')
})

test.each([
  ['stopped', (one: Pty) => one.pause()],
  ['set to capitals', (_: Pty, run: ReturnType<typeof open>['run'], descriptor: number) => run('stty olcuc', descriptor)],
])('one that is %s settles too', async (_, change) => {
  const { pty, output, run } = open()
  run('echo LAST')
  change(pty, run, pty.descriptor)
  readNothingInTime()
  await pty.settled()
  expect(output.text).toBe('LAST\r\n')
})

test('the output of a session that has ended is told, though its end hung the terminal up', async () => {
  const { pty, output } = open()
  Bun.spawnSync(['setsid', '--ctty', '--wait', 'sh', '-c', 'echo last words'], { stdin: pty.descriptor, stdout: pty.descriptor })
  readNothingInTime()
  await pty.settled()
  expect(output.text).toBe('last words\r\n')
})

test('who closes it does not wait for it to settle', async () => {
  const { pty } = open()
  pty.pause()
  const settled = pty.settled()
  pty.close()
  await settled
})
