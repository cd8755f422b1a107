import { existsSync, readdirSync, readlinkSync, rmSync, statSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { AppError } from '../../../shared/error.ts'
import type { Guarantee } from '../../engines/port/port.ts'
import { readStat } from '../../engines/process/kernel/proc.ts'
import { openDiskQuota } from '../../engines/process/quota/quota.ts'
import type { Paths } from '../../platform/paths.ts'
import { neighbourApp, SHARED_NETWORK } from './apps.ts'
import { type Bait, layBait } from './bait.ts'
import { tryToConnect } from './connect.ts'
import { tryToFillDisk } from './fill-disk.ts'
import { openProbe, type Probe } from './latency.ts'
import { tryToLinger } from './linger.ts'
import { type DoctorPlace, openPlace } from './place.ts'
import { measurePressure, type Pressure, quietNeighbour } from './pressure.ts'
import type { TryResult } from './red-team/attempt.ts'
import type { ProcessTarget, Targets } from './red-team/targets.ts'
import { openWorld, type RunningApp, type World } from './sandbox-world.ts'
import { isBounded, stressorsFor } from './stressors.ts'
import { type Verdict, verdictsOf } from './verdict.ts'

export interface ExamineOptions {
  paths: Paths
  redTeamCommand: readonly string[]
  executable: string
  readOnlyBinds: readonly string[]
  isQuick: boolean
  progress(text: string): void
  signal: AbortSignal
}

export interface Examination {
  verdicts: Verdict[]
  pressure?: Pressure
  leftOut: string[]
}

/** Puts the engine's promises to the test on this machine: services of the doctor's own, one of which attacks all others and the machine. */
export async function examine(options: ExamineOptions): Promise<Examination> {
  const { paths, signal } = options
  const place = await openPlace([paths.db, paths.run, paths.uploads])
  try {
    signal.throwIfAborted()
    return await examineAt(place, options)
  } finally {
    await place.close()
  }
}

/** Below the block from which installations choose the users of their services. */
const FIRST_UID = 1_900_000_000
const UIDS_PER_RUN = 64
const RUNS = 256

async function examineAt(place: DoctorPlace, options: ExamineOptions): Promise<Examination> {
  const { engine, dir, controlDir } = place
  const { executable, readOnlyBinds, progress, isQuick } = options
  const dataDir = existsSync(options.paths.data) ? options.paths.data : dir
  const isRoot = process.getuid?.() === 0
  const quota = await openDiskQuota({ dataDir, isRoot, onError: () => {} })
  const guarantees = [...(await engine.guarantees()), quota.guarantee]
  const firstUid = FIRST_UID + (process.pid % RUNS) * UIDS_PER_RUN
  const world = await openWorld({ dir, engine, executable, readOnlyBinds, firstUid })
  const bait = await layBait(controlDir)
  try {
    progress('starting a neighbour')
    const { neighbour, probe } = await startNeighbour(world)
    const given = { ...options, world, bait, neighbour, guarantees }
    progress('trying to break out')
    const tries = await breakOut(given)
    progress('trying to stay behind after a stop')
    tries.push(await tryToLinger(world))
    if (isKept(guarantees, 'connection-limit')) tries.push(await tryToConnect(world))
    const filled = quota.guarantee.holds ? await tryToFillDisk(world, dir) : undefined
    if (filled !== undefined) tries.push(filled)
    const { leftOut, pressure, tries: pressed } = isQuick ? { leftOut: [QUICK], tries: [], pressure: undefined } : await press(given, probe)
    probe.close()
    tries.push(...pressed, await unharmed(neighbour))
    return {
      verdicts: verdictsOf([...guarantees, ...(pressure === undefined ? [] : [QUIET_NEIGHBOURS])], tries),
      leftOut,
      ...(pressure && { pressure }),
    }
  } finally {
    await bait.close()
    // Where services have no folders of their own for temporary files, the neighbour's mark is in the machine's.
    for (const path of MARKS) rmSync(path, { force: true })
  }
}

const isKept = (guarantees: readonly Guarantee[], wanted: string): boolean => guarantees.some(({ id, holds }) => id === wanted && holds)

const QUICK = 'pressure on processes, memory and CPU: asked for in a hurry (--quick)'
const QUIET_NEIGHBOURS: Guarantee = {
  id: 'quiet-neighbours',
  title: 'What one service does leaves the answers of others quick',
  holds: true,
}
const MARK = `cpd-doctor-mark-${process.pid}`
const MARKS = ['/tmp', '/dev/shm'].map((dir) => join(dir, MARK))

interface Given extends ExamineOptions {
  world: World
  bait: Bait
  neighbour: RunningApp
  guarantees: readonly Guarantee[]
}

const START_TIMEOUT_MS = 20_000
const POLL_MS = 20

async function startNeighbour(world: World): Promise<{ neighbour: RunningApp; probe: Probe }> {
  const neighbour = await world.start(neighbourApp(MARK))
  await world.engine.link([
    {
      ownerId: neighbour.ownerId,
      number: 1,
      networkId: 'doctor-isolated',
      names: ['doctor-neighbour'],
      instanceIds: [neighbour.instanceId],
    },
  ])
  for (const end = performance.now() + START_TIMEOUT_MS; performance.now() < end; await Bun.sleep(POLL_MS)) {
    const state = await neighbour.state()
    if (state?.status === 'exited') break
    const host = state?.endpoint?.host
    const probe = host === undefined ? undefined : await openProbe({ host, port: neighbour.port }).catch(() => undefined)
    if (probe) return { neighbour, probe }
  }
  throw new AppError('unavailable', `The doctor's own service does not start on this machine: ${(await neighbour.output()).trim()}`)
}

const RED_TEAM_TIMEOUT_MS = 60_000

/** The red team is given what it is to go for in its environment, and writes what came of it as its last line. */
async function breakOut({ redTeamCommand, signal, ...given }: Given): Promise<TryResult[]> {
  const command = `exec ${redTeamCommand.map(quoted).join(' ')}`
  const limits = { cpu: 2, memoryBytes: 1024 ** 3, pids: 256 }
  const app = await given.world.start(
    { name: 'red-team', command, files: {}, limits, network: SHARED_NETWORK },
    { RED_TEAM_TARGETS: JSON.stringify(await targetsOf(given)), BUN_BE_BUN: '' },
  )
  const end = await Promise.race([app.ended, Bun.sleep(RED_TEAM_TIMEOUT_MS)])
  signal.throwIfAborted()
  const output = (await app.output()).trim()
  await app.remove()
  if (end?.exitCode !== 0) throw new AppError('unavailable', `The red team did not come to its end: ${output.slice(-500)}`)
  return JSON.parse(output.slice(output.lastIndexOf('\n') + 1)) as TryResult[]
}

const quoted = (word: string): string => `'${word.replaceAll("'", String.raw`'\''`)}'`

async function targetsOf({ world, bait, neighbour, paths, guarantees }: Omit<Given, 'redTeamCommand' | 'signal'>): Promise<Targets> {
  const [state, pid] = [await neighbour.state(), world.engine.pidOf(neighbour.instanceId)]
  if (state?.status !== 'running' || state.endpoint === undefined || pid === undefined)
    throw new AppError('unavailable', 'The neighbour has ended')
  const installed = [paths.masterKey, paths.controlDb, paths.logsDb, paths.routesFile, paths.ingressProof].filter(existsSync)
  const isApart = isKept(guarantees, 'no-control-egress')
  return {
    controlFiles: [...bait.files, ...installed],
    neighbourFiles: filesBelow(neighbour.root),
    folders: [...bait.folders, ...[paths.db, paths.run, paths.uploads].filter(existsSync), neighbour.root].map((path) => ({
      path,
      ownNames: [],
    })),
    writable: [...bait.files, ...bait.folders, ...filesBelow(neighbour.root), ...installed, paths.data].filter(existsSync),
    processes: [identified('this doctor', process.pid), identified('the neighbour', pid), identified('the first process', 1)],
    processNamespace: readlinkSync('/proc/self/ns/pid'),
    sockets: [...bait.sockets, ...[paths.ingressSocket, paths.serveSocket].filter(existsSync)],
    // Where the engine keeps nobody from it, a machine in a cloud would really be asked for its secrets.
    listeners: [...bait.listeners, ...(isApart ? [METADATA] : [])],
    neighbourListeners: [{ what: 'the neighbour', host: state.endpoint.host, port: neighbour.port }],
    names: [{ name: 'doctor-neighbour', port: neighbour.port }],
    neighbourTmpFiles: MARKS,
  }
}

const METADATA = { what: "the cloud's metadata", host: '169.254.169.254', port: 80 }

const filesBelow = (dir: string): string[] =>
  readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .map((name) => join(dir, name))
    .filter((path) => statSync(path).isFile())

const identified = (what: string, pid: number): ProcessTarget => ({ what, pid, startTicks: readStat(pid)?.startTicks ?? -1 })

async function press(
  { world, guarantees, progress, signal }: Given,
  probe: Probe,
): Promise<{ pressure?: Pressure; tries: TryResult[]; leftOut: string[] }> {
  const all = stressorsFor(world, availableParallelism())
  const stressors = all.filter((stressor) => isBounded(stressor, guarantees))
  const leftOut = all.filter((stressor) => !stressors.includes(stressor)).map(({ id }) => `${id}: nothing would stop it on this machine`)
  if (stressors.length === 0) return { tries: [], leftOut }
  const { pressure, tries } = await measurePressure({ world, probe, stressors, progress, signal })
  return { pressure, tries: [...tries, quietNeighbour(pressure)], leftOut }
}

async function unharmed(neighbour: RunningApp): Promise<TryResult> {
  const state = await neighbour.state()
  return {
    id: 'end-neighbour',
    title: 'ends another service',
    guarantee: 'private-processes',
    attempted: 1,
    succeeded: state?.status === 'running' ? [] : ['the neighbour has ended'],
  }
}
