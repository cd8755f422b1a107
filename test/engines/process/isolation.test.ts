import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createProcessEngine } from '../../../server/engines/process/engine.ts'
import type { ProcessEngine, ProcessSpec, Sandbox } from '../../../server/engines/process/spec.ts'
import { endOf, makeWorld, until, type World } from './support/world.ts'

const label = `cpd-test-isolation-${process.pid}`

describe('a hostile workload', () => {
  let world: World
  let engine: ProcessEngine
  let victim: ProcessSpec
  let victimPid: number

  beforeEach(async () => {
    world = makeWorld()
    const secrets = join(world.dir, 'db')
    mkdirSync(secrets, { mode: 0o755 })
    writeFileSync(join(secrets, 'control.db'), 'SECRET', { mode: 0o644 })
    writeFileSync(join(world.dir, 'master.key'), 'SECRET', { mode: 0o600 })
    engine = await createProcessEngine({ stateDir: world.stateDir, label, hiddenDirs: [secrets] })
    const env = { PATH: '/usr/bin:/bin', TOKEN: 'SECRET' }
    victim = world.instance('echo SECRET >own; exec sleep 1000', { sandbox: world.service('srv-victim'), env })
    await engine.start(victim)
    victimPid = engine.pidOf(victim.instanceId) ?? 0
    await until('the victim sleeps', () => readFileSync(`/proc/${victimPid}/cmdline`, 'utf8').startsWith('sleep'))
  })

  afterEach(async () => {
    for (const { ownerId } of await engine.list()) await engine.removeOwner(ownerId)
    await engine.close()
    world.dispose()
  })

  /** What an attempt from inside the sandbox writes, its errors included. */
  const attempt = async (command: string, changes: Partial<ProcessSpec> = {}) => {
    const spec = world.instance(command, changes)
    await engine.start(spec)
    await endOf(engine, spec.instanceId)
    return world.output(spec)
  }

  test('reads no file of the control plane', async () => {
    const files = ['master.key', 'db/control.db', 'run/instances', 'run/instances/*/about.json'].map((name) => join(world.dir, name))
    const output = await attempt(
      `for f in ${files.join(' ')} /etc/shadow /root; do cat $f; ls -la $f; done; find ${world.dir} /tmp -name '*.key'`,
    )
    expect(output).not.toContain('SECRET')
    expect(output).toMatch(/master.key: (No such file|Permission denied)/)
    expect(output).not.toContain('srv-victim')
  })

  test('has a user and a group by name, and the machine does not know them', async () => {
    const output = await attempt('id -un; id -gn; eval echo ~$(id -un); touch /etc/passwd')
    expect(output).toMatch(new RegExp(`^(cpd-)?app\n(cpd-)?app\n${world.service('srv-app').homeDir.replace('srv-app', '[^/]+')}\n`))
    expect(output).toMatch(/Read-only|Permission denied/)
    expect(readFileSync('/etc/passwd', 'utf8')).not.toContain(world.dir)
  })

  test('reads no file, log or scratch file of another service', async () => {
    writeFileSync(join(world.service('srv-victim').tmpDir, 'scratch'), 'SECRET')
    const output = await attempt(
      `cat ${victim.cwd}/own ${victim.outputPath} /tmp/scratch /var/tmp/scratch /proc/${victimPid}/cwd/own /proc/${victimPid}/root/tmp/scratch; ls ${world.dir}/srv-victim`,
    )
    expect(output).not.toContain('SECRET')
  })

  test('leaves nothing in the folder for locks that all of the machine share', async () => {
    const name = `cpd-test-lock-${process.pid}`
    expect(await attempt(`if [ -d /run/lock ]; then touch /run/lock/${name} && ls /run/lock; else echo ${name}; fi`)).toBe(`${name}\n`)
    expect(existsSync(`/run/lock/${name}`)).toBe(false)
  })

  test('sees and reads nothing of other processes', async () => {
    const output = await attempt(
      `ls /proc; for f in environ cmdline maps mem; do cat /proc/${victimPid}/$f /proc/1/$f /proc/${process.pid}/$f; done`,
    )
    expect(output).not.toContain('SECRET')
    expect(output.split('\n')).not.toContain(String(victimPid))
    expect(output.split('\n')).not.toContain(String(process.pid))
  })

  test('signals no other process', async () => {
    const output = await attempt(`for p in ${victimPid} ${process.pid} $PPID; do kill -9 $p || echo refused; done; kill -9 -1; echo after`)
    expect(output.match(/^refused$/gm)).toHaveLength(3)
    expect(await engine.inspect(victim.instanceId)).toMatchObject({ status: 'running' })
    expect(engine.pidOf(victim.instanceId)).toBe(victimPid)
  })

  test('has no privilege and gets none', async () => {
    const output = await attempt(
      'id -u; id -G; grep -E "^(Cap|NoNewPrivs)" /proc/self/status; su -c id 2>&1; mount -t tmpfs x /mnt; umount /proc; unshare -m true',
    )
    const { uid, gid } = world.service('srv-one')
    expect(output.startsWith(`${uid}\n${gid}\n`)).toBe(true)
    expect(output.match(/^Cap\w+:\s0+$/gm)).toHaveLength(5)
    expect(output).toMatch(/^NoNewPrivs:\s1$/m)
    expect(output).not.toContain('uid=0')
    expect(output).toMatch(/unshare failed: Operation not permitted/)
  })

  test('cannot leave its control group, raise its limits or bind a privileged port', async () => {
    const output = await attempt(
      `find /sys/fs/cgroup -writable -type f 2>/dev/null | wc -l; echo 0 >/sys/fs/cgroup/pids/cgroup.procs || echo kept; ulimit -c 1 || echo limited
       python3 -c 'import socket; socket.socket().bind(("127.0.0.1", 99))' 2>&1 | grep -o 'Permission denied'`,
    )
    expect(output).toMatch(/^0\n.*kept.*limited.*Permission denied/s)
  })

  test('inherits no descriptor but its own three', async () => {
    const output = await attempt('cd /proc/self/fd; for fd in *; do echo $fd; done')
    expect(output.trim().split('\n').slice(0, 3)).toEqual(['0', '1', '2'])
  })

  test("is root through the user's environment at no step of the start", async () => {
    const trap = join(world.dir, 'trap.so')
    writeFileSync(trap, 'not a library')
    const output = await attempt('echo ran', { env: { LD_PRELOAD: trap, PATH: '/nowhere', ENV: trap, BASH_ENV: trap } })
    // Exactly one program loads after the environment is in place: the shell of the command itself.
    expect(output.match(/trap\.so/g)).toHaveLength(1)
    expect(output).toContain('ran')
  })

  test('shows no value of its environment in any argument', async () => {
    const spec = world.instance('exec sleep 1000', { env: { PATH: '/usr/bin:/bin', PASSWORD: 'pLaNtEd-VaLuE' } })
    const watched: string[] = []
    const watching = new AbortController()
    const watcher = (async () => {
      while (!watching.signal.aborted) {
        const pids = readdirSync('/proc').map(Number)
        for (const pid of pids) if (pid >= victimPid) watched.push(readText(`/proc/${pid}/cmdline`))
        await Bun.sleep(0)
      }
    })()
    await engine.start(spec)
    watching.abort()
    await watcher
    expect(watched.join('\n')).toContain('/proc/self/fd/9')
    expect(watched.join('\n')).not.toContain('pLaNtEd-VaLuE')
  })

  test('has its own empty /dev/shm and a /tmp that lasts', async () => {
    const output = await attempt('ls -A /dev/shm; echo kept >/tmp/note; echo x >/dev/shm/note')
    expect(output).toBe('')
    expect(await attempt('ls /dev/shm; cat /tmp/note /var/tmp/note')).toBe('kept\nkept\n')
  })
})

describe('folders in a private home', () => {
  let home: string
  let engine: ProcessEngine
  let world: World

  beforeEach(async () => {
    home = mkdtempSync(join(homedir(), '.cpd-test-'))
    chmodSync(home, 0o700)
    mkdirSync(join(home, '.tool chain/bin'), { recursive: true })
    mkdirSync(join(home, 'private'))
    writeFileSync(join(home, '.tool chain/bin/tool'), '#!/bin/sh\necho tool works\n', { mode: 0o755 })
    world = makeWorld(home)
    engine = await createProcessEngine({ stateDir: world.stateDir, label })
  })

  afterEach(async () => {
    for (const { ownerId } of await engine.list()) await engine.removeOwner(ownerId)
    await engine.close()
    rmSync(home, { recursive: true, force: true })
  })

  const run = async (command: string, sandbox: Sandbox) => {
    const spec = world.instance(command, { sandbox })
    await engine.start(spec)
    await endOf(engine, spec.instanceId)
    return world.output(spec)
  }

  test('are there for the workload, read-only where asked, and nothing else is', async () => {
    const sandbox = { ...world.service('srv-one'), readOnlyBinds: [join(home, '.tool chain')] }
    const output = await run(
      `ls -A ${home}; '${home}/.tool chain/bin/tool'; echo x >'${home}/.tool chain/x'; pwd; echo made >made && cat made; echo h >${sandbox.homeDir}/h && echo home`,
      sandbox,
    )
    expect(output).toContain('tool works')
    expect(output).toContain('Read-only file system')
    expect(output).toContain('made\nhome\n')
    expect(output).not.toContain('private')
  })

  test('are unchanged outside', async () => {
    await run('true', world.service('srv-one'))
    expect(readFileSync('/proc/self/mountinfo', 'utf8')).not.toContain(home)
    expect(statSync(home).mode & 0o777).toBe(0o700)
  })
})

function readText(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}
