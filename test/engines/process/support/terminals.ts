import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { OpenTerminal } from '../../../../server/engines/port/port.ts'
import type { ProcessEngine, ProcessTerminalSpec } from '../../../../server/engines/process/spec.ts'
import type { EngineFactory } from './processes.ts'
import { makeWorld, pidsWith, until, type World } from './world.ts'

/** What every engine must do with terminals. */
export function describeTerminals(name: string, factory: EngineFactory): void {
  describe(name, () => terminalsContract(factory))
}

function terminalsContract(factory: EngineFactory): void {
  let world: World
  let engine: ProcessEngine
  let output: string
  const opened: OpenTerminal[] = []

  beforeEach(async () => {
    world = makeWorld()
    engine = await factory(world)
    output = ''
  })

  afterEach(async () => {
    for (const one of opened.splice(0)) await one.close()
    for (const { ownerId } of await engine.list()) await engine.removeOwner(ownerId)
    await engine.close()
    world.dispose()
  })

  const open = async (command: string, changes: Partial<ProcessTerminalSpec> = {}) => {
    const spec = world.terminal(command)
    const onOutput = (bytes: Uint8Array) => {
      output += new TextDecoder().decode(bytes)
    }
    const env = { ...spec.env, TERM: 'xterm', PS1: 'prompt>' }
    const terminal = await engine.openTerminal({ ...spec, env, onOutput, ...changes })
    opened.push(terminal)
    return terminal
  }
  const type = (terminal: OpenTerminal, text: string) => terminal.write(new TextEncoder().encode(text))
  const marker = () => `9${Math.floor(Math.random() * 1e9)}.25`
  const shows = (text: string | RegExp) => until(`it shows ${text}: ${output}`, () => new RegExp(text).test(output))
  const BASH = 'exec bash --norc -i'

  const places: [string, () => Promise<Partial<ProcessTerminalSpec>>][] = [
    ['of its own', async () => ({})],
    [
      'in an instance',
      async () => {
        const spec = world.instance('exec sleep 1000')
        await engine.start(spec)
        return { joins: spec.instanceId }
      },
    ],
  ]

  describe.each(places)('a terminal %s', (_, place) => {
    test('is the controlling terminal of its command, with job control and its size', async () => {
      const terminal = await open(BASH, { ...(await place()), columns: 101, rows: 37 })
      await shows('prompt>')
      await type(terminal, '[ -t 0 ] && echo is one >/dev/tty; stty size; echo $((40 + 2))\n')
      await shows('is one\r\n37 101\r\n42')
      expect(output).not.toContain('job control')
      terminal.resize(90, 30)
      await type(terminal, 'stty size\n')
      await shows('30 90')
    })

    test('tells the exit code of its command after all of its output', async () => {
      const terminal = await open('seq 1 5000; exit 7', await place())
      expect(await terminal.ended).toEqual({ exitCode: 7, signal: null })
      expect(output).toContain('\n5000\r\n')
      await terminal.close()
      expect((await engine.list()).map(({ instanceId }) => instanceId)).not.toContainEqual(expect.stringMatching(/^shl-/))
    })

    test('ends what runs in front by Ctrl-C, and nothing else', async () => {
      const nap = marker()
      const terminal = await open(BASH, await place())
      await shows('prompt>')
      await type(terminal, `sleep ${nap} & sleep ${nap}\n`)
      await until('both sleep', () => pidsWith(`sleep\0${nap}`).length === 2)
      await type(terminal, '\u0003')
      await until('one sleeps', () => pidsWith(`sleep\0${nap}`).length === 1)
      await type(terminal, 'echo $((50 + 5))\n')
      await shows('55')
    })

    test('ends a plain command by Ctrl-C', async () => {
      const terminal = await open('echo up; exec sleep 1000', await place())
      await shows('up')
      await type(terminal, '\u0003')
      const { exitCode, signal } = await terminal.ended
      expect(signal === 'SIGINT' || exitCode === 130).toBe(true)
    })

    test('tells the program of a new size', async () => {
      const terminal = await open("trap 'stty size' WINCH; echo up; while :; do sleep 0.05; done", await place())
      await shows('up')
      terminal.resize(66, 11)
      await shows('11 66')
    })

    test('takes everything along when it is closed', async () => {
      const nap = marker()
      const deaf = `trap '' HUP TERM INT; setsid sh -c 'trap "" HUP TERM; (sleep ${nap}; sleep ${nap}) & sleep ${nap}' & nohup sleep ${nap} & sleep ${nap}`
      const terminal = await open(deaf, await place())
      await until('all sleep', () => pidsWith(`sleep\0${nap}`).length === 4)
      await Promise.all([terminal.close(), terminal.close()])
      expect(pidsWith(nap)).toEqual([])
      for (const { instanceId } of await engine.list()) {
        expect(instanceId).not.toMatch(/^shl-/)
        expect(await engine.inspect(instanceId)).toMatchObject({ status: 'running' })
      }
      await type(terminal, 'nobody reads this')
      terminal.resize(10, 10)
    })

    test('gives its command the time to hang up', async () => {
      const terminal = await open(`trap 'echo hung >hung; exit' HUP; echo up; while :; do sleep 0.05; done`, await place())
      await shows('up')
      await terminal.close()
      await open('cat hung')
      await shows('hung')
    })

    test('makes a flood wait while it is paused', async () => {
      const terminal = await open('echo up; while :; do echo flood; done', await place())
      await shows('flood')
      terminal.pause()
      let before = output.length
      await until('nothing comes any more', async () => {
        before = output.length
        await Bun.sleep(200)
        return output.length === before
      })
      terminal.resume()
      await until('it goes on', () => output.length > before + 1000)
    })

    test('holds what is typed back until the program takes it', async () => {
      const terminal = await open('stty raw -echo; echo up; sleep 0.5; head -c 100000 | wc -c', await place())
      await shows('up')
      await type(terminal, 'x'.repeat(100_000))
      await shows('100000')
    })

    test('ends and is forgotten with the control plane', async () => {
      const nap = marker()
      await open(`trap '' HUP; sleep ${nap}; true`, await place())
      await until('it sleeps', () => pidsWith(`sleep\0${nap}`).length === 1)
      await engine.close()
      expect(pidsWith(nap)).toEqual([])
      engine = await factory(world)
      expect((await engine.list()).filter(({ instanceId }) => instanceId.startsWith('shl-'))).toEqual([])
    })

    test('has no privilege', async () => {
      await open('grep -E "^(Cap(Eff|Prm|Inh|Amb)|NoNewPrivs)" /proc/self/status; echo; id -u; echo done', await place())
      await shows('done')
      expect(output.match(/^Cap\w+:\s0+\r$/gm)).toHaveLength(4)
      expect(output).toMatch(/NoNewPrivs:\s1/)
      expect(output).toContain(`\n${world.service('srv-one').uid}\r\n`)
    })
  })

  describe('terminals', () => {
    test('in an instance see its processes and files', async () => {
      if (!(await engine.guarantees()).some(({ id, holds }) => id === 'private-tmp' && holds)) return
      const spec = world.instance('echo made >/tmp/made; echo shm >/dev/shm/made; exec sleep 98765.5')
      await engine.start(spec)
      await until('it sleeps', () => pidsWith('sleep\x0098765.5').length > 0)
      const see = 'cat /tmp/made /dev/shm/made; cat /proc/[0-9]*/cmdline | tr "\\0" " "; echo done'
      const terminal = await open(see, { joins: spec.instanceId })
      await terminal.ended
      expect(output).toContain('made\r\nshm\r\n')
      expect(output).toContain('sleep 98765.5')
    })

    test('end with the instance they are in', async () => {
      const spec = world.instance('exec sleep 1000')
      await engine.start(spec)
      const nap = marker()
      const terminal = await open(`trap '' HUP; sleep ${nap}; true`, { joins: spec.instanceId })
      await until('it sleeps', () => pidsWith(`sleep\0${nap}`).length === 1)
      await engine.removeOwner('srv-one')
      await terminal.ended
      expect(pidsWith(nap)).toEqual([])
    })

    test('say why their command cannot start', async () => {
      await expect(open('true', { cwd: `${world.dir}/missing` })).rejects.toMatchObject({ code: 'unavailable' })
    })
  })
}
