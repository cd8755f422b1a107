import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createProcessEngine } from '../../../server/engines/process/engine.ts'
import { installPrograms } from '../../../server/engines/process/launcher.ts'
import type { ProcessEngine, Sandbox } from '../../../server/engines/process/spec.ts'
import { openWritableLayers } from '../../../server/engines/process/writable-layer.ts'
import { runProcess } from '../../../server/platform/process/spawn.ts'
import { systemEnv } from '../../../server/platform/process/system-tools.ts'
import { until } from '../../support/until.ts'
import { makeWorld, runToEnd, type World } from './support/world.ts'

let world: World
let engine: ProcessEngine
let sandbox: Sandbox
let release: string

/** A release as a build leaves it: root's, and to be read by the service's group. */
function layRelease(gid: number): void {
  mkdirSync(join(release, 'dist', 'deep'), { recursive: true })
  for (const file of ['app.js', 'dist/old', 'dist/deep/file']) {
    writeFileSync(join(release, file), 'as it was')
    chmodSync(join(release, file), 0o640)
  }
  for (const path of ['', 'app.js', 'dist', 'dist/old', 'dist/deep', 'dist/deep/file']) {
    chownSync(join(release, path), 0, gid)
    if (statSync(join(release, path)).isDirectory()) chmodSync(join(release, path), 0o750)
  }
}

function linkAt(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    // The folder that is being listed has a descriptor, too.
    return ''
  }
}

/** Beyond those of the services of any test. */
const NOBODYS_UID = 1_700_000_000

const heldNamespaces = (): string[] =>
  readdirSync('/proc/self/fd')
    .map((name) => `/proc/${process.pid}/fd/${name}`)
    .filter((path) => linkAt(path).startsWith('user:'))

/** The user that root of a user namespace is outside of it. A number is no name: the next namespace gets that of one that is gone. */
async function userIn(path: string): Promise<number> {
  const { stdout } = await runProcess(['nsenter', `--user=${path}`, '--preserve-credentials', 'cat', '/proc/self/uid_map'], {
    env: systemEnv,
  })
  return Number(stdout.trim().split(/\s+/)[1])
}

describe.runIf(process.getuid?.() === 0)('a workload with a layer over its release', () => {
  beforeAll(async () => {
    world = makeWorld()
    engine = await createProcessEngine({ stateDir: world.stateDir, label: `cpd-test-layer-${process.pid}` })
    const own = world.service('srv-one')
    release = join(world.dir, 'srv-one', 'release')
    layRelease(own.gid)
    sandbox = { ...own, readOnlyBinds: [release], layerOver: release }
  })
  afterAll(async () => {
    await engine.close()
    world.dispose()
  })

  async function run(command: string, changes: Partial<Sandbox> = {}): Promise<string> {
    const task = world.task(`{ ${command}; } 2>&1`, { sandbox: { ...sandbox, ...changes } })
    await runToEnd(engine, task)
    return world.output(task)
  }

  const layers = () =>
    readdirSync(join(world.stateDir, 'instances')).filter((id) => existsSync(join(world.stateDir, 'instances', id, 'layer')))

  test('is promised by an engine that can', async () => {
    expect((await engine.guarantees()).find(({ id }) => id === 'writable-layer')).toMatchObject({ holds: true })
  })

  test('writes, removes and changes modes beside its code', async () => {
    const output = await run(
      'rm -r dist && mkdir dist && echo new >dist/new && chmod 700 app.js && echo more >>app.js && cat app.js dist/new && ls dist',
    )
    expect(output).toBe('as it wasmore\nnew\nnew\n')
  })

  test('finds the release as it was, and leaves nothing', async () => {
    expect(await run('find . -type f | sort; cat app.js dist/old')).toBe('./app.js\n./dist/deep/file\n./dist/old\nas it wasas it was')
    expect(readFileSync(join(release, 'app.js'), 'utf8')).toBe('as it was')
    expect(statSync(join(release, 'app.js'))).toMatchObject({ uid: 0, mode: 0o100640 })
    expect(layers()).toEqual([])
  })

  test('keeps what it wrote while it runs, as files of its own user, and no longer', async () => {
    const spec = world.instance('echo kept >state; exec sleep 1000', { sandbox })
    await engine.start(spec)
    const written = join(world.stateDir, 'instances', spec.instanceId, 'layer', 'upper', 'state')
    await until('it has written', () => existsSync(written))
    expect(statSync(written).uid).toBe(sandbox.uid)
    await engine.stop(spec.instanceId, { graceMs: 0 })
    await engine.remove(spec.instanceId)
    expect(layers()).toEqual([])
  })

  test('is as before where it is to have none', async () => {
    const { layerOver: _, ...without } = sandbox
    const task = world.task('{ cat app.js; touch new; } 2>&1', { sandbox: without })
    await runToEnd(engine, task)
    expect(world.output(task)).toMatch(/^as it was.*Read-only file system/)
  })

  test('holds no more user namespaces than it may, however many users come', async () => {
    const dir = join(world.dir, 'many')
    mkdirSync(dir)
    const layers = await openWritableLayers(installPrograms(dir).steps, dir, { mostNamespaces: 2, lastUseMs: 0 })
    if ('reason' in layers) throw new Error(layers.reason)
    try {
      const uids = [1, 2, 3, 4].map((more) => NOBODYS_UID + more)
      for (const uid of uids) await layers.prepare(join(dir, `record-${uid}`), release, { uid, gid: sandbox.gid })
      const held = async () => {
        const mapped = await Promise.all(heldNamespaces().map(userIn))
        return uids.filter((uid) => mapped.includes(uid))
      }
      await until('those used longest ago are let go of', async () => (await held()).join() === uids.slice(2).join())
    } finally {
      layers.close()
    }
  })
})
