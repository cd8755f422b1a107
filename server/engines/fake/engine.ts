import { bytesOf } from '../../../shared/disk.ts'
import { AppError } from '../../../shared/error.ts'
import type { End } from '../port/end.ts'
import type { Capabilities, Engine, ExitedState, ExitListener, InstanceState, ListedWorkload, Usage } from '../port/port.ts'
import type { VolumeCapabilities } from '../port/volumes.ts'
import type { InstanceSpec } from '../port/workload.ts'
import type { FakeMachine, Run } from './machine.ts'
import type { ProgramEnd } from './program.ts'
import { openFakeTerminal } from './terminal.ts'
import { createFakeVolumes } from './volumes.ts'
import { workloadOf } from './workload.ts'

const ABLE_TO_ALL: Capabilities = {
  ownNetworks: true,
  siblingConnections: true,
  freeze: true,
  terminals: ['joined', 'own'],
  stacks: ['host'],
}

type HasArtifact = (ownerId: string, digest: string) => boolean

export interface FakeEngineOptions {
  hasArtifact?: HasArtifact
  capabilities?: Partial<Capabilities>
  volumes?: VolumeCapabilities
}

/** An engine in memory, for tests: programs are small scripts (program.ts), time is the machine's clock, and faults befall calls as the test wants. */
export function createFakeEngine(machine: FakeMachine, options: FakeEngineOptions = {}): Engine {
  const { hasArtifact = () => true } = options
  const capabilities = { ...ABLE_TO_ALL, ...options.capabilities }
  const { runs, faults, clock } = machine
  const listeners = new Set<ExitListener>()
  const own = new Set<Run>()
  const running = (id: string) => {
    const run = runs.get(id)
    return run?.end === undefined ? run : undefined
  }
  const stopListening = machine.onEnd((run) => {
    if (run.kind === 'terminal') return
    const report = () => {
      for (const listener of listeners) listener(run.id, exitedState(run))
    }
    clock.after(0, () => void faults.reachable().then(report))
  })
  const setFrozen = async (id: string, isFrozen: boolean) => running(id)?.program.setFrozen(isFrozen)
  return {
    name: 'fake',
    get epoch() {
      return machine.epoch
    },
    capabilities,
    hostAddress: '10.99.0.1',
    output: machine.outputs.port(faults),
    volumes: createFakeVolumes(machine, options.volumes),
    guarantees: async () => [],
    start: (spec) =>
      faults.around('start', async () => {
        requireFiles(spec, hasArtifact)
        startInstance(machine, spec, capabilities)
      }),
    inspect: (id) => faults.around('inspect', async () => stateOf(runs.get(id))),
    list: () => faults.around('list', async () => [...runs.values()].flatMap(listed)),
    stop: (id, { graceMs }) => faults.around('stop', () => stopRun(machine, runs.get(id), graceMs)),
    remove: (id) => faults.around('remove', async () => remove(machine, id)),
    onExit: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    openTerminal: (spec) =>
      faults.around('openTerminal', async () => {
        const { terminal, run } = openFakeTerminal(machine, spec)
        own.add(run)
        return terminal
      }),
    freeze: (id) => faults.around('freeze', () => setFrozen(id, true)),
    thaw: (id) => faults.around('thaw', () => setFrozen(id, false)),
    link: (owners) => faults.around('link', async () => machine.links.link(owners)),
    ...(!capabilities.ownNetworks && { siblingHost: ({ number }) => `10.98.${number >> 8}.${number & 255}` }),
    listeners: (id) =>
      faults.around('listeners', async () =>
        [...(running(id)?.program.ports ?? [])].sort((a, b) => a - b).map((port) => ({ port, reach: 'address' as const })),
      ),
    siblingConnections: () => faults.around('siblingConnections', async () => 0),
    usage: (id) => faults.around('usage', async () => usageOf(machine, running(id))),
    limitSpace: () => faults.around('limitSpace', async () => {}),
    heldSpace: (owners) => faults.around('heldSpace', async () => new Map(owners.map(({ id }) => [id, { amount: 0, isPartial: false }]))),
    emptyTemporary: () => faults.around('emptyTemporary', async () => {}),
    removeOwner: (ownerId) => faults.around('removeOwner', () => removeAllOf(machine, ownerId)),
    close: async () => {
      stopListening()
      listeners.clear()
      for (const run of own) if (run.end === undefined) run.program.kill('SIGKILL')
      await Promise.all([...own].map(({ ended }) => ended))
      for (const { id } of own) runs.delete(id)
    },
  }
}

function requireFiles({ owner, files }: InstanceSpec, hasArtifact: HasArtifact): void {
  if ('artifact' in files && !hasArtifact(owner.id, files.artifact))
    throw new AppError('unavailable', `The files ${files.artifact} are not kept`)
}

function startInstance(machine: FakeMachine, { listens, ...spec }: InstanceSpec, { ownNetworks }: Capabilities): void {
  const known = machine.runs.get(spec.instanceId)
  if (known?.end !== undefined) throw new AppError('conflict', `Instance ${spec.instanceId} has ended; remove it first`)
  if (known !== undefined) return
  const port = listens && (ownNetworks ? listens.preferredPort : machine.freePort())
  const workload = workloadOf(spec, { id: spec.instanceId, kind: 'instance', ...(port !== undefined && { port }) })
  machine.begin({ ...workload, ...(!ownNetworks && { address: SHARED_ADDRESS }) })
}

const SHARED_ADDRESS = '10.99.0.0'

function exitedState({ end, wasLost, startedAt }: Run): ExitedState {
  const { exitCode, signal, why, used }: ProgramEnd = wasLost || end === undefined ? UNSEEN : end
  return {
    status: 'exited',
    exitCode,
    signal,
    ...(why && { why }),
    ...(used && { used }),
    at: new Date(end?.at ?? startedAt).toISOString(),
  }
}

const UNSEEN: End = { exitCode: null, signal: null, why: 'unseen' }

function stateOf(run: Run | undefined): InstanceState | undefined {
  if (run === undefined) return undefined
  if (run.end !== undefined) return exitedState(run)
  const { address: host, port } = run
  return { status: 'running', startedAt: new Date(run.startedAt).toISOString(), ...(port !== undefined && { endpoint: { host, port } }) }
}

const listed = ({ id, ownerId, kind }: Run): ListedWorkload[] => (kind === 'terminal' ? [] : [{ instanceId: id, ownerId }])

async function removeAllOf(machine: FakeMachine, ownerId: string): Promise<void> {
  const ofService = [...machine.runs.values()].filter((run) => run.ownerId === ownerId)
  await Promise.all(ofService.map((run) => stopRun(machine, run, 0)))
  for (const run of ofService) remove(machine, run.id)
}

async function stopRun({ clock }: FakeMachine, run: Run | undefined, graceMs: number): Promise<void> {
  if (run === undefined || run.end !== undefined) return
  run.program.setFrozen(false)
  if (graceMs > 0) run.program.terminate()
  const cancel = clock.after(graceMs, () => run.program.kill('SIGKILL'))
  await run.ended
  cancel()
}

function remove({ runs }: FakeMachine, id: string): void {
  const run = runs.get(id)
  if (run !== undefined && run.end === undefined) throw new AppError('conflict', `${id} is still running; stop it first`)
  runs.delete(id)
}

function usageOf({ volumes }: FakeMachine, run: Run | undefined): Usage | undefined {
  if (run === undefined) return undefined
  const { sizeGb = 0, usedBytes } = volumes.get(run.volumeId ?? '') ?? {}
  const disk = usedBytes === undefined ? {} : { disk: { usedBytes, sizeBytes: bytesOf(sizeGb) } }
  return { cpuSeconds: 0, memoryBytes: 0, ...disk }
}
