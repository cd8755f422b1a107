import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { KEEPER_SCRIPT, type Launch, launchCommand } from '../../../server/engines/process/launch.ts'
import { parseExit } from '../../../server/engines/process/record.ts'
import { runProcess } from '../../../server/process/spawn.ts'

const dir = mkdtempSync(join(tmpdir(), 'launch-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const launch: Launch = {
  keeperPath: '/run/keeper.sh',
  recordDir: '/run/instances/one',
  cgroupWrites: [{ file: '/cg/cgroup.procs', value: '0' }],
  fstabPath: '/run/fstab',
  user: { uid: 61_000, gid: 61_001 },
  cwd: '/release',
  env: { TOKEN: 'secret value', LD_PRELOAD: '/evil.so' },
  namespaces: 'machine',
  priority: 'live',
  command: 'exec app; rm -rf /',
}

describe('launchCommand', () => {
  const { argv, env } = launchCommand(launch)

  test('holds no value of the environment in its arguments', () => {
    expect(argv.join(' ')).not.toContain('secret value')
    expect(argv.slice(-4)).toEqual(['TOKEN', 'LD_PRELOAD', '--', 'exec app; rm -rf /'])
  })

  test('keeps the environment away from the programs that run as root', () => {
    expect(env).toEqual({ PATH: '/usr/sbin:/usr/bin:/sbin:/bin', cpd_env_TOKEN: 'secret value', cpd_env_LD_PRELOAD: '/evil.so' })
  })

  test('drops privileges before the command and after the mounts', () => {
    const order = ['--pid', 'setsid', '--mount', '/run/fstab', '/cg/cgroup.procs', 'setpriv', 'exec app; rm -rf /'].map((part) =>
      argv.indexOf(part),
    )
    expect(order).toEqual([...order].sort((a, b) => a - b))
    expect(argv).toEqual(
      expect.arrayContaining(['--reuid=61000', '--regid=61001', '--clear-groups', '--no-new-privs', '--bounding-set=-all']),
    )
  })

  test('leaves out what an ordinary user cannot do', () => {
    const plain = launchCommand({ ...launch, namespaces: 'none', user: undefined, fstabPath: undefined, cgroupWrites: [] }).argv
    expect(plain).toContain('--no-new-privs')
    expect(plain).not.toContain('unshare')
  })

  test('changes no script for any input', () => {
    const scripts = (list: string[]) => list.filter((part) => part.includes('\n'))
    expect(scripts(launchCommand({ ...launch, command: '$(id)', cwd: '`id`', env: {} }).argv)).toEqual(scripts(argv))
  })
})

describe.each(['/bin/sh', '/bin/bash'])('the keeper in %s', (shell) => {
  const keeperPath = join(dir, 'keeper.sh')

  test.each([
    ['exit 0', { exitCode: 0, signal: null }],
    ['exit 143', { exitCode: 143, signal: null }],
    ['kill -TERM $$', { exitCode: null, signal: 'SIGTERM' }],
    ['kill -KILL $$', { exitCode: null, signal: 'SIGKILL' }],
    ['kill -SEGV $$', { exitCode: null, signal: 'SIGSEGV' }],
  ])('records "%s" as what it is', async (command, outcome) => {
    writeFileSync(keeperPath, KEEPER_SCRIPT)
    await runProcess([shell, keeperPath, dir, '/bin/sh', '-c', command], { env: { PATH: '/usr/bin:/bin' } })
    expect(parseExit(readFileSync(join(dir, 'exit'), 'utf8'))).toEqual(outcome)
    expect(readFileSync(join(dir, 'process'), 'utf8')).toMatch(/^\d+ \(/)
  })
})
