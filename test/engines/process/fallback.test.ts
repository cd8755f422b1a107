import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { closedDirsAbove } from '../../../server/engines/process/closed-dirs.ts'
import { createProcessEngine } from '../../../server/engines/process/engine.ts'
import { runProcess } from '../../../server/process/spawn.ts'
import { describeEngine } from '../contract.ts'
import { makeWorld } from '../world.ts'

const label = `cpd-test-fallback-${process.pid}`

describeEngine('process engine without control groups', (world) => {
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

/** What an engine of an ordinary user does, run in a process of such a user. */
const NOT_ROOT_SCRIPT = `
  import { createProcessEngine } from ${JSON.stringify(join(import.meta.dirname, '../../../server/engines/process/engine.ts'))}
  const dir = process.argv[2]
  const engine = await createProcessEngine({ stateDir: dir + '/run', label: 'cpd-test-not-root' })
  const held = (await engine.guarantees()).filter((one) => one.holds)
  const sandbox = { serviceId: 'srv-one', uid: 5, gid: 5, homeDir: dir, tmpDir: dir, readOnlyBinds: [] }
  const limits = { cpu: 1, memoryBytes: 1e9, pids: 100 }
  const spec = { instanceId: 'srv-one-1', deployId: 'dep', command: 'id -u; exit 6', cwd: dir, env: { PATH: '/usr/bin:/bin' }, sandbox, limits, outputPath: dir + '/out', port: 1 }
  const ended = new Promise((resolve) => engine.onExit((id, state) => resolve(state)))
  await engine.start(spec)
  const { exitCode } = await ended
  const reasons = (await engine.guarantees()).map((one) => one.reason)
  await engine.removeService('srv-one')
  await engine.close()
  console.log(JSON.stringify({ held, exitCode, reasons }))`

test('works without root, and promises nothing it cannot keep', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'not-root-'))
  const user = { uid: 61_900, gid: 61_900 }
  try {
    chownSync(dir, user.uid, user.gid)
    chmodSync(dir, 0o700)
    const bundle = await Bun.build({
      entrypoints: [writeScript(join(dir, 'entry.ts'))],
      target: 'bun',
      outdir: dir,
      naming: 'script.js',
    })
    expect(bundle.success).toBe(true)
    expect(closedDirsAbove([process.execPath], user)).toEqual([])
    const asUser = ['setpriv', `--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups']
    const result = await runProcess([...asUser, process.execPath, join(dir, 'script.js'), dir], {
      cwd: dir,
      env: { PATH: `/usr/bin:/bin:${dirname(process.execPath)}`, BUN_BE_BUN: '1', HOME: dir },
    })
    expect(result.stderr).toBe('')
    const { held, exitCode, reasons } = JSON.parse(result.stdout)
    const ids = held.map((one: { id: string }) => one.id)
    expect(ids).toEqual(expect.arrayContaining(['no-privileges', 'private-files', 'private-tmp', 'private-processes', 'no-escape']))
    for (const id of ['own-user', 'memory-limit', 'cpu-limit', 'process-limit']) expect(ids).not.toContain(id)
    expect(exitCode).toBe(6)
    for (const reason of reasons) expect(reason ?? 'root').toMatch(/root|control group/)
    expect(readFileSync(join(dir, 'out'), 'utf8')).toBe(`${user.uid}\n`)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
  expect(existsSync(dir)).toBe(false)
})

function writeScript(path: string): string {
  writeFileSync(path, NOT_ROOT_SCRIPT)
  return path
}
