import { dlopen, ptr } from 'bun:ffi'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createProcessEngine } from '../../server/engines/process/engine.ts'
import type { ProcessEngine } from '../../server/engines/process/spec.ts'
import { makeWorld, runToEnd, type World } from '../engines/process/support/world.ts'

const label = `cpd-test-objects-${process.pid}`
let world: World
let engine: ProcessEngine

async function run(command: string): Promise<string> {
  const task = world.task(`{ ${command}; } 2>&1`)
  await runToEnd(engine, task)
  return world.output(task)
}

/** What a sandbox shares with no other, however its kernel objects are named. */
describe.runIf(process.getuid?.() === 0)('S29: a workload', () => {
  beforeAll(async () => {
    world = makeWorld()
    engine = await createProcessEngine({ stateDir: world.stateDir, label })
  })
  afterAll(async () => {
    await engine.close()
    world.dispose()
  })

  test('has none of the keys of the session that started the platform, nor of another workload', async () => {
    const name = `cpd-test-key-${process.pid}`
    expect(addKeyToOwnSession(name)).toBeGreaterThan(0)
    const keys = await run('cat /proc/keys')
    expect(keys).toContain('_ses')
    expect(keys).not.toContain(name)
  })

  test('makes 64 terminals and no more', async () => {
    const opened = 'for (1..200) { open(my $end, "+<", "/dev/ptmx") or last; push @ends, $end } print scalar @ends'
    expect(await run(`perl -e '${opened}'`)).toBe('64')
  })

  test('sees its own control group as the topmost, and no block device', async () => {
    const groups = (await run('cat /proc/self/cgroup')).trim().split('\n')
    expect(groups.filter((line) => !line.endsWith(':/'))).toEqual([])
    expect(
      await run('find /sys/fs/cgroup -name "*cpd-test*"; ls -A /sys/block /sys/class/block /sys/devices/virtual/block | grep loop'),
    ).toBe('')
    expect(await run('ls /sys/fs/cgroup/memory/memory.limit_in_bytes /sys/fs/cgroup/memory.max')).toMatch(/^\/sys/m)
    expect(await run('find /sys/fs/cgroup -name cgroup.procs -writable')).toBe('')
  })

  test("sees nothing of other services' file systems and links", async () => {
    expect(await run('ls -A /sys/class/bdi /sys/fs/ext4 /sys/class/net /sys/devices/virtual/net | grep -v "^/sys" | grep .')).toBe('')
  })

  test('finds users and groups in files alone', async () => {
    const sources = await run('grep -E "^(passwd|group|shadow)" /etc/nsswitch.conf')
    expect(sources).toBe('passwd: files\ngroup: files\nshadow: files\n')
  })
})

const ADD_KEY = process.arch === 'arm64' ? 217 : 248
const SESSION_KEYRING = -3

function addKeyToOwnSession(name: string): number {
  const libc = dlopen('libc.so.6', { syscall: { args: ['i64', 'ptr', 'ptr', 'ptr', 'i64', 'i64'], returns: 'i64' } })
  const [type, description, content] = ['user', name, 'secret'].map((text) => Buffer.from(`${text}\0`)) as [Buffer, Buffer, Buffer]
  return Number(libc.symbols.syscall(ADD_KEY, ptr(type), ptr(description), ptr(content), content.length, SESSION_KEYRING))
}
