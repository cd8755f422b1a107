import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { closedDirsAbove } from '../../../server/engines/process/closed-dirs.ts'
import { createProcessEngine } from '../../../server/engines/process/engine.ts'
import { runProcess } from '../../../server/platform/process/spawn.ts'
import { describeProcesses } from './support/processes.ts'
import { makeWorld } from './support/world.ts'

const label = `cpd-test-fallback-${process.pid}`

describeProcesses('process engine without control groups', (world) => {
  const cgroupRoot = join(world.dir, 'no-cgroups')
  mkdirSync(cgroupRoot, { recursive: true })
  return createProcessEngine({ stateDir: world.stateDir, label, cgroupRoot })
})

test('says which guarantees are missing without control groups, and why', async () => {
  const world = makeWorld()
  const engine = await createProcessEngine({ stateDir: world.stateDir, label, cgroupRoot: '/nowhere' })
  const missing = (await engine.guarantees()).filter((one) => !one.holds)
  expect(missing.map((one) => one.id)).toEqual(['memory-limit', 'cpu-limit', 'process-limit'])
  for (const one of missing) expect(one.reason).toBe('no control groups are mounted at /nowhere')
  await engine.close()
  world.dispose()
})

/** Runs a script in a process of an ordinary user, with a folder of its own, and returns what it prints as JSON. */
async function asOrdinaryUser<T>(script: string): Promise<T & { userId: number }> {
  const dir = mkdtempSync(join(tmpdir(), 'not-root-'))
  const user = { uid: 61_900, gid: 61_900 }
  try {
    chownSync(dir, user.uid, user.gid)
    chmodSync(dir, 0o700)
    writeFileSync(join(dir, 'entry.ts'), `${PRELUDE}${script}`)
    const bundle = await Bun.build({ entrypoints: [join(dir, 'entry.ts')], target: 'bun', outdir: dir, naming: 'script.js' })
    expect(bundle.success).toBe(true)
    expect(closedDirsAbove([process.execPath], user)).toEqual([])
    const asUser = ['setpriv', `--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups']
    const result = await runProcess([...asUser, process.execPath, join(dir, 'script.js'), dir], {
      cwd: dir,
      env: { PATH: `/usr/bin:/bin:${dirname(process.execPath)}`, BUN_BE_BUN: '1', HOME: dir },
    })
    expect(result.stderr).toBe('')
    return { ...JSON.parse(result.stdout), userId: user.uid }
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

const PRELUDE = `
  import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
  import { createProcessEngine } from ${JSON.stringify(join(import.meta.dirname, '../../../server/engines/process/engine.ts'))}
  const dir = process.argv[2]
  const data = dir + '/data'
  for (const name of ['', '/run', '/db', '/one', '/one/home', '/one/tmp', '/two', '/two/home', '/two/tmp']) mkdirSync(data + name, { mode: 0o700 })
  const open = (options = {}) => createProcessEngine({ stateDir: data + '/run', dataDir: data, label: 'cpd-test-not-root', ...options })
  let count = 0
  const spec = (name, command) => ({
    instanceId: 'srv-' + name + '-' + ++count, deployId: 'dep', command, cwd: data + '/' + name + '/home', env: { PATH: '/usr/bin:/bin' },
    sandbox: { ownerId: 'srv-' + name, uid: 5, gid: 5, homeDir: data + '/' + name + '/home', tmpDir: data + '/' + name + '/tmp', readOnlyBinds: [] },
    limits: { cpu: 1, memoryBytes: 1e9, pids: 100 }, outputPath: data + '/' + name + '.out', port: 1,
  })
  const run = async (engine, one) => {
    const ended = new Promise((resolve) => engine.onExit((id, state) => id === one.instanceId && resolve(state)))
    await engine.start(one)
    const { exitCode } = await ended
    return { exitCode, output: readFileSync(one.outputPath, 'utf8') }
  }
  const held = async (engine) => (await engine.guarantees()).filter((one) => one.holds).map(({ id }) => id)
  const reasons = async (engine) => (await engine.guarantees()).flatMap((one) => one.holds ? [] : [one.reason])
`

const WITH_NAMESPACES = ['no-privileges', 'private-files', 'private-tmp', 'private-processes', 'no-escape']
const AS_ROOT_ONLY = ['own-user', 'memory-limit', 'cpu-limit', 'process-limit']

test.each([
  ['with user namespaces', '', WITH_NAMESPACES, AS_ROOT_ONLY],
  [
    'without them',
    "{ namespaces: 'none' }",
    ['no-privileges'],
    [...AS_ROOT_ONLY, 'private-files', 'private-tmp', 'private-processes', 'no-escape'],
  ],
])('works for an ordinary user %s, and promises nothing it cannot keep', async (_, options, kept, missing) => {
  interface Outcome {
    exitCode: number
    output: string
    held: string[]
    reasons: string[]
  }
  const { exitCode, output, held, reasons, userId } = await asOrdinaryUser<Outcome>(`
    const engine = await open(${options})
    const outcome = await run(engine, spec('one', 'id -u; exit 6'))
    await engine.removeOwner('srv-one')
    console.log(JSON.stringify({ ...outcome, held: await held(engine), reasons: await reasons(engine) }))
    await engine.close()`)
  expect(exitCode).toBe(6)
  expect(output).toBe(`${userId}\n`)
  expect(held).toEqual(expect.arrayContaining(kept))
  for (const id of missing) expect(held).not.toContain(id)
  for (const reason of reasons) expect(reason).toMatch(/root|control group|namespaces/)
})

test('an ordinary user still keeps services apart from one another and from the control plane', async () => {
  const { output, isVictimAlive, exitCode } = await asOrdinaryUser<{ output: string; isVictimAlive: boolean; exitCode: number }>(`
    writeFileSync(data + '/master.key', 'SECRET')
    writeFileSync(data + '/db/control.db', 'SECRET')
    const engine = await open()
    const victim = spec('two', 'echo SECRET >own; echo SECRET >/tmp/scratch; echo SECRET >/dev/shm/scratch; exec sleep 1000')
    await engine.start({ ...victim, env: { ...victim.env, TOKEN: 'SECRET' } })
    const pid = engine.pidOf(victim.instanceId)
    const tries = [
      'echo kept >kept; cat kept',
      'cat ' + ['/master.key', '/db/control.db', '/two/home/own', '/two/tmp/scratch', '/two.out'].map((name) => data + name).join(' '),
      'find ' + data + ' /tmp /dev/shm -type f -exec cat {} +',
      'cat /proc/' + pid + '/environ /proc/1/environ /proc/1/root' + data + '/master.key; ls /proc/1/root/ /proc/1/fd',
      'kill -9 ' + pid + ' ' + process.pid + ' 1; true',
      'umount /proc; umount /tmp; umount ' + data,
      'for lock in /proc /tmp ' + data + '; do unshare --user --map-root-user --mount umount -l $lock; done',
      'unshare --user --map-root-user --mount sh -c "mount --make-rprivate /; umount -R ' + data + '; cat ' + data + '/master.key"',
      'grep -E "^(Cap(Inh|Prm|Eff|Bnd|Amb)|NoNewPrivs)" /proc/self/status',
      'setsid sh -c "trap : TERM HUP; while :; do sleep 0.1; done" & echo end',
    ]
    const { output, exitCode } = await run(engine, spec('one', tries.map((line) => '(' + line + ') 2>&1').join('; ')))
    await run(engine, spec('one', 'kill -9 -1; exec sleep 0.1'))
    const isVictimAlive = (await engine.inspect(victim.instanceId)).status === 'running'
    for (const name of ['one', 'two']) await engine.removeOwner('srv-' + name)
    await engine.close()
    console.log(JSON.stringify({ output, exitCode, isVictimAlive }))`)
  expect(output).not.toContain('SECRET')
  expect(output).toContain('kept\n')
  expect(output.match(/^Cap\w+:\s0+$/gm)).toHaveLength(5)
  expect(output).toMatch(/^NoNewPrivs:\s1$/m)
  expect(output).toMatch(/end\n$/)
  expect(exitCode).toBe(0)
  expect(isVictimAlive).toBe(true)
})
