import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { type Launch, launchCommand, launchSteps, MONITOR_SCRIPT } from '../../../server/engines/process/launch.ts'
import { parseExit } from '../../../server/engines/process/records/record.ts'
import { runProcess } from '../../../server/platform/process/spawn.ts'

const dir = mkdtempSync(join(tmpdir(), 'launch-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const launch: Launch = {
  programs: { monitor: '/run/monitor.sh', steps: '/run/steps' },
  recordDir: '/run/instances/one',
  cgroupWrites: [{ file: '/cg/cgroup.procs', value: '0' }],
  fstabPath: '/run/fstab',
  user: { uid: 61_000, gid: 61_001 },
  filter: { allowsUserNamespaces: false },
  hasKeyrings: true,
  cwd: '/release',
  env: { TOKEN: 'secret value', LD_PRELOAD: '/evil.so' },
  namespaces: 'machine',
  priority: 'live',
  command: 'exec app; rm -rf /',
}

/** Each once where several follow one another. */
const callsOf = ({ steps }: { steps: readonly { call: string }[] }) =>
  steps.map(({ call }) => call).filter((call, index, all) => call !== all[index - 1])

describe('launchCommand', () => {
  const { argv, env } = launchCommand(launch)

  test('holds no value of the environment in its arguments', () => {
    expect(argv.join(' ')).not.toContain('secret value')
    expect(argv.slice(-4)).toEqual(['/proc/self/fd/8', '/bin/sh', '-c', 'exec app; rm -rf /'])
  })

  test('keeps the environment away from the programs that run as root', () => {
    expect(env).toEqual({ PATH: '/usr/sbin:/usr/bin:/sbin:/bin', cpd_env_TOKEN: 'secret value', cpd_env_LD_PRELOAD: '/evil.so' })
  })

  test('drops privileges before the command and after the mounts', () => {
    const order = ['--pid', 'setsid', '/run/instances/one/enter', '/run/fstab', '/cg/cgroup.procs', '/proc/self/fd/9', launch.command].map(
      (part) => argv.indexOf(part),
    )
    expect(order).toEqual([...order].sort((a, b) => a - b))
    expect(callsOf(launchSteps(launch).leave)).toEqual([
      ...[
        'close_range',
        'keyctl',
        'unshare',
        'prctl',
        'setgroups',
        'setresgid',
        'setresuid',
        'capset',
        'prctl',
        'chdir',
        'prctl',
        'seccomp',
      ],
    ])
  })

  test('makes namespaces, after that of processes, by system calls', () => {
    expect(callsOf(launchSteps(launch).enter)).toEqual(['setsid', 'unshare', 'mount'])
    expect(callsOf(launchSteps({ ...launch, networkPath: '/run/netns' }).enter)).toEqual(['setsid', 'openat', 'setns', 'unshare', 'mount'])
  })

  test('leaves out what an ordinary user cannot do', () => {
    const plain: Launch = { ...launch, namespaces: 'none', user: undefined, fstabPath: undefined, cgroupWrites: [] }
    expect(launchCommand(plain).argv).not.toContain('unshare')
    expect(callsOf(launchSteps(plain).enter)).toEqual(['setsid'])
    expect(callsOf(launchSteps(plain).leave)).toEqual(['close_range', 'keyctl', 'capset', 'prctl', 'chdir', 'prctl', 'seccomp'])
  })

  test('changes no script for any input', () => {
    const scripts = (list: string[]) => list.filter((part) => part.includes('\n'))
    expect(scripts(launchCommand({ ...launch, command: '$(id)', cwd: '`id`', env: {} }).argv)).toEqual(scripts(argv))
  })
})

describe.each(['/bin/sh', '/bin/bash'])('the monitor in %s', (shell) => {
  const monitorPath = join(dir, 'monitor.sh')

  test.each([
    ['exit 0', { exitCode: 0, signal: null }],
    ['exit 143', { exitCode: 143, signal: null }],
    ['kill -TERM $$', { exitCode: null, signal: 'SIGTERM' }],
    ['kill -KILL $$', { exitCode: null, signal: 'SIGKILL' }],
    ['kill -SEGV $$', { exitCode: null, signal: 'SIGSEGV' }],
  ])('records "%s" as what it is', async (command, outcome) => {
    writeFileSync(monitorPath, MONITOR_SCRIPT)
    writeFileSync(join(dir, 'leave'), '')
    await runProcess([shell, monitorPath, dir, monitorPath, '/bin/sh', '-c', command], { env: { PATH: '/usr/bin:/bin' } })
    expect(parseExit(readFileSync(join(dir, 'exit'), 'utf8'))).toEqual(outcome)
    expect(readFileSync(join(dir, 'process'), 'utf8')).toMatch(/^\d+ \(/)
  })
})
