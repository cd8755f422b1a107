import { chmod, chown, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ensureSelfToolchain } from '../../builders/toolchains/self-toolchain.ts'
import type { ExitedState, InstanceState } from '../../engines/port/port.ts'
import type { ProcessEngine } from '../../engines/process/spec.ts'
import { newId, newInstanceId } from '../../platform/id.ts'
import type { DoctorApp } from './apps.ts'
import { NEXT_SOURCE } from './red-team/targets.ts'

export interface WorldOptions {
  dir: string
  engine: ProcessEngine
  executable: string
  readOnlyBinds: readonly string[]
  firstUid: number
}

export interface World {
  readonly engine: ProcessEngine
  nextUid(): number
  start(app: DoctorApp, env?: Record<string, string>): Promise<RunningApp>
}

export interface RunningApp {
  name: string
  ownerId: string
  instanceId: string
  uid: number
  networkId: string
  port: number
  root: string
  state(): Promise<InstanceState | undefined>
  output(): Promise<string>
  ended: Promise<ExitedState>
  remove(): Promise<void>
}

const PREFERRED_PORT = 10_000
const ROOTS_ALONE = 0o700
const PASS_THROUGH = 0o711

export async function openWorld({ dir, engine, executable, readOnlyBinds, firstUid }: WorldOptions): Promise<World> {
  const toolchain = await ensureSelfToolchain({ dir: join(dir, 'toolchain'), executable })
  let count = 0

  async function start(app: DoctorApp, env: Record<string, string> = {}): Promise<RunningApp> {
    const ownerId = newId('service')
    const instanceId = newInstanceId(ownerId)
    const uid = firstUid + count++
    const place = await layOut(join(dir, 'services', `${app.name}-${count}`), app, uid)
    const held = engine.takePort({ preferredPort: PREFERRED_PORT })
    const port = held.number
    const networkId = app.network ?? `doctor-${app.name}`
    const ended = endOf(engine, instanceId)
    await engine.start({
      instanceId,
      deployId: 'doctor',
      command: app.command,
      cwd: place.code,
      env: { PATH: `${toolchain}:/usr/local/bin:/usr/bin:/bin`, HOME: place.home, BUN_BE_BUN: '1', PORT: String(port), ...env },
      sandbox: {
        ownerId,
        uid,
        gid: uid,
        homeDir: place.home,
        tmpDir: place.tmp,
        readOnlyBinds: [place.code, toolchain, ...readOnlyBinds],
        writableBinds: [place.home],
        coveredDirs: [place.builds],
        networkId,
      },
      limits: app.limits,
      outputPath: place.output,
      port,
    })
    held.release()
    return {
      name: app.name,
      ownerId,
      instanceId,
      uid,
      networkId,
      port,
      root: place.root,
      state: () => engine.inspect(instanceId),
      output: () => readFile(place.output, 'utf8').catch(() => ''),
      ended,
      remove: () => engine.removeOwner(ownerId),
    }
  }
  return { engine, nextUid: () => firstUid + count, start }
}

async function layOut(root: string, app: DoctorApp, uid: number) {
  const place = {
    root,
    code: join(root, 'code'),
    home: join(root, 'home'),
    tmp: join(root, 'tmp'),
    output: join(root, 'output', 'log'),
    builds: join(root, 'builds'),
  }
  await mkdir(root, { recursive: true, mode: PASS_THROUGH })
  await chmod(root, PASS_THROUGH)
  await mkdir(join(root, 'output'), { mode: ROOTS_ALONE })
  const nextSource = await layNextSource(place.builds)
  for (const path of [place.code, place.home, place.tmp]) await mkdir(path, { mode: ROOTS_ALONE })
  for (const [name, content] of Object.entries(app.files)) await writeFile(join(place.code, name), content, { mode: 0o600 })
  await writeFile(join(place.home, 'secret'), 'of this service alone', { mode: 0o600 })
  const own = [
    place.code,
    place.home,
    place.tmp,
    join(place.home, 'secret'),
    ...nextSource,
    ...Object.keys(app.files).map((name) => join(place.code, name)),
  ]
  if (process.getuid?.() === 0) for (const path of own) await chown(path, uid, uid)
  return place
}

async function layNextSource(builds: string): Promise<string[]> {
  const [folder, file] = [join(builds, NEXT_SOURCE.folder), join(builds, NEXT_SOURCE.folder, NEXT_SOURCE.file)]
  await mkdir(builds, { mode: PASS_THROUGH })
  await chmod(builds, PASS_THROUGH)
  await mkdir(folder, { mode: ROOTS_ALONE })
  await writeFile(file, 'web: true', { mode: 0o600 })
  return [folder, file]
}

function endOf(engine: ProcessEngine, instanceId: string): Promise<ExitedState> {
  return new Promise((resolve) => {
    const unsubscribe = engine.onExit((id, state) => {
      if (id !== instanceId) return
      unsubscribe()
      resolve(state)
    })
  })
}
