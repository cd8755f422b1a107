import { existsSync, mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { messageOf } from '../../../shared/error.ts'
import type { Capabilities, Guarantee, ListedWorkload } from '../port/port.ts'
import type { Cgroups } from './cgroups/cgroups.ts'
import { diskGuaranteesOf, volumeMountsOf } from './disk-support.ts'
import { guaranteesOf, type Host, namespacesIn, probeHost, usableCgroups } from './host.ts'
import { createKeyedMutex } from './keyed-mutex.ts'
import { installPrograms } from './launcher.ts'
import { freeze, inspect, type LifecycleContext, remove, startInstance, stop, thaw } from './lifecycle.ts'
import { spaceSeenBy } from './mounted-space.ts'
import { CONNECTIONS_PER_INSTANCE } from './network/connection-table.ts'
import type { HostService } from './network/host-services.ts'
import { exposeLoopback, type RunningInstance, siblingConnections } from './network/instance-ports.ts'
import { listenersOf } from './network/listeners.ts'
import type { Networks } from './network/networks.ts'
import { openNetworks } from './network/own-networks.ts'
import { createPortPool } from './network/port-pool.ts'
import { openSharedNetwork } from './network/shared-network.ts'
import { epochOf } from './records/epoch.ts'
import { freezerBy } from './records/freezer.ts'
import { groupOf, isTrueWithin, processesBy } from './records/processes.ts'
import { openRecords, RECORDS, type Records, type Workload } from './records/record.ts'
import type { ProcessEngine } from './spec.ts'
import { createSupervisor } from './supervisor.ts'
import { openTerminal } from './terminal.ts'
import { watchCpuWeights } from './throttling/cpu-weights.ts'
import { layerOf, openWritableLayers } from './writable-layer.ts'

export interface ProcessEngineOptions {
  stateDir: string
  /** Names our control groups. Only what carries it is ever touched, so each data directory needs its own. */
  label: string
  hiddenDirs?: string[]
  /** Everything of the installation. A workload that runs as our own user, as we are not root, sees of it only what it needs. */
  dataDir?: string
  namespaces?: 'none'
  log?: (message: string) => void
  cgroupRoot?: string
  network?: NetworkChoice
}

export interface NetworkChoice {
  subnet?: string
  publicPorts?: readonly number[]
  connectionsPerInstance?: number
  hostServices?: readonly HostService[]
}

const ADOPTION_DEADLINE_MS = 10_000
const STRAY_DEADLINE_MS = 5000
const FORGET_DEADLINE_MS = 5000

/** Runs workloads as plain processes of this machine, and adopts those that an earlier engine with the same state left running. */
export async function createProcessEngine(options: ProcessEngineOptions): Promise<ProcessEngine> {
  const context = await openContext(options)
  const { supervisor, processes, host } = context
  await adopt(context)
  const stopCpuWeights = startCpuWeights(context)
  const { siblingHost } = context.networks
  const ports = createPortPool(() => supervisor.all().flatMap(({ workload }) => workload.port ?? []))
  return {
    name: 'process',
    epoch: epochOf(resolve(options.stateDir)),
    capabilities: capabilitiesIn(context.networks),
    hostAddress: context.networks.gateway,
    volumeMounts: volumeMountsOf(host),
    guarantees: async () => [...guaranteesOf(host), layerGuarantee(context.layers), ...diskGuaranteesOf(host)],
    takePort: ({ preferredPort, sharesHostNetwork = false }) =>
      context.networks.areOwn && !sharesHostNetwork ? { number: preferredPort, release() {} } : ports.take(),
    start: (spec) => startInstance(context, spec),
    inspect: (id) => inspect(context, id),
    pidOf: (id) => runningOf(context, id)?.leader.pid,
    layersOf: (ownerId) => layersOf(context, ownerId),
    list: async () => supervisor.all().flatMap(({ workload }) => listed(workload)),
    stop: (id, { graceMs }) => stop(context, id, graceMs),
    remove: (id) => remove(context, id),
    onExit: supervisor.onExit,
    openTerminal: (spec) => openTerminal(context, spec),
    freeze: (id) => freeze(context, id),
    thaw: (id) => thaw(context, id),
    link: (owners) => context.networks.link(owners),
    ...(siblingHost && { siblingHost: ({ number }) => siblingHost(number) }),
    exposeLoopback: (id, port) => exposeLoopback(runningOf(context, id), port),
    listeners: async (id) => listenersOf(runningOf(context, id)),
    siblingConnections: async (id, port) => siblingConnections(runningOf(context, id), port, context.networks.gateway),
    usage: async (id) => {
      const one = supervisor.get(id)
      if (one === undefined || one.end !== undefined) return undefined
      const leader = context.records.processOf(one.workload)
      const disk = leader === undefined ? undefined : await spaceSeenBy(leader.pid)
      return { ...processes.usage(one.workload), ...(disk && { disk }) }
    },
    removeOwner: async (ownerId) => {
      const ids = supervisor.all().flatMap(({ workload }) => (workload.ownerId === ownerId ? [workload.id] : []))
      await Promise.all(ids.map((id) => stop(context, id, 0)))
      await Promise.all(ids.map((id) => remove(context, id)))
    },
    close: async () => {
      const terminals = supervisor.all().filter((one) => one.workload.kind === 'terminal' && one.hasOwnMonitor)
      await Promise.all(terminals.map((one) => stop(context, one.workload.id, 0)))
      await isTrueWithin(() => terminals.every((one) => supervisor.get(one.workload.id) !== one), FORGET_DEADLINE_MS)
      stopCpuWeights()
      supervisor.close()
      await context.networks.close({ isEmpty: supervisor.all().every((one) => one.end !== undefined) })
      context.cgroups?.close()
      if (!('reason' in context.layers)) context.layers.close()
    },
  }
}

const capabilitiesIn = ({ areOwn }: Networks): Capabilities => ({
  ownNetworks: areOwn,
  siblingConnections: areOwn,
  freeze: true,
  terminals: ['joined', 'own'],
  stacks: ['host'],
})

function runningOf({ supervisor, records, processes, networks }: LifecycleContext, id: string): RunningInstance | undefined {
  const one = supervisor.get(id)
  const leader = one === undefined || one.end !== undefined ? undefined : records.processOf(one.workload)
  if (one === undefined || leader === undefined) return undefined
  return { leader, address: networks.addressOf(id), members: () => processes.members(one.workload) }
}

function startCpuWeights({ cgroups, supervisor }: LifecycleContext): () => void {
  if (cgroups === undefined || !cgroups.controllers.has('cpu')) return () => {}
  const isApp = ({ kind, priority }: Workload) => kind === 'instance' && priority !== 'background'
  return watchCpuWeights(cgroups, () =>
    supervisor.all().flatMap(({ workload, end }) => (end === undefined && isApp(workload) ? [workload] : [])),
  )
}

async function openContext({ label, cgroupRoot, network, ...options }: ProcessEngineOptions): Promise<LifecycleContext> {
  const stateDir = resolve(options.stateDir)
  const log = options.log ?? (() => {})
  const isNetworkShared = network?.subnet === 'off'
  mkdirSync(stateDir, { recursive: true, mode: 0o700 })
  const programs = installPrograms(stateDir)
  const host = await probeHost({
    label,
    stepProgram: programs.steps,
    isNetworkShared,
    areNamespacesOff: options.namespaces === 'none',
    ...(cgroupRoot && { cgroupRoot }),
  })
  const cgroups = usableCgroups(host)
  const records = openRecords(join(stateDir, RECORDS))
  const processes = processesBy(records, cgroups)
  const supervisor = createSupervisor({ records, processes, cgroups, log })
  const hiddenDirs = [stateDir, ...(options.hiddenDirs ?? [])]
  const networks = await openNetworksOf(host, { records, stateDir, network, log })
  return {
    host,
    cgroups,
    records,
    programs,
    layers: await openLayersOf(host, programs.steps, stateDir),
    processes,
    freezer: freezerBy(cgroups, processes),
    supervisor,
    hiddenDirs,
    dataDir: options.dataDir === undefined ? undefined : resolve(options.dataDir),
    networks,
    mutex: createKeyedMutex(),
    log,
  }
}

async function openLayersOf(host: Host, stepProgram: string, directory: string): Promise<LifecycleContext['layers']> {
  if (namespacesIn(host) !== 'machine')
    return { reason: 'cpd does not run as root with namespaces, so releases are read-only; run it as root' }
  return await openWritableLayers(stepProgram, directory)
}

const layerGuarantee = (layers: LifecycleContext['layers']): Guarantee => ({
  id: 'writable-layer',
  title: 'Instances may write beside their code, for as long as they run',
  ...('reason' in layers ? { holds: false, reason: layers.reason } : { holds: true }),
})

interface NetworkPlace {
  records: Records
  stateDir: string
  network: NetworkChoice | undefined
  log: (message: string) => void
}

function openNetworksOf({ network: ability }: Host, { records, stateDir, network, log }: NetworkPlace): Promise<Networks> {
  const running = records.all().filter(({ id, bootId }) => bootId === records.bootId && records.exitOf(id) === undefined)
  const adopted = running.map(({ id, ownerId }) => ({ id, ownerId, recordDir: records.dirOf(id) }))
  const directory = join(stateDir, 'network')
  const { subnet, publicPorts = [], hostServices = [], connectionsPerInstance: most = CONNECTIONS_PER_INSTANCE } = network ?? {}
  if ('reason' in ability) return openSharedNetwork({ directory, hostServices, adopted })
  const connectionsPerInstance = ability.hasCounts ? most : undefined
  const { hasTimeouts } = ability
  return openNetworks({
    directory,
    adopted,
    publicPorts,
    hostServices,
    hasTimeouts,
    connectionsPerInstance,
    log,
    ...(subnet !== undefined && { subnet }),
  })
}

/** A terminal in an instance has none, nor has anybody on some machines. */
function layersOf({ supervisor, records }: LifecycleContext, ownerId: string): string[] {
  const own = supervisor.all().filter(({ workload }) => workload.ownerId === ownerId)
  return own.map(({ workload }) => layerOf(records.dirOf(workload.id))).filter((folder) => existsSync(folder))
}

function listed({ id, ownerId, kind }: Workload): ListedWorkload[] {
  return kind === 'terminal' ? [] : [{ instanceId: id, ownerId }]
}

/** Takes over what earlier engines started. What has ended meanwhile is told by `inspect`, not to listeners, of which there are none yet. */
async function adopt(context: LifecycleContext): Promise<void> {
  const { records, supervisor, cgroups } = context
  const adopted = records.all().map((workload) => supervisor.add(workload, { hasOwnMonitor: false }))
  await Promise.all(
    adopted.map(async (one) => {
      // A launcher whose control plane was killed a moment ago has still to record its process.
      await isTrueWithin(() => supervisor.check(one), ADOPTION_DEADLINE_MS)
      if (one.isSettling) await one.ended
      if (one.workload.kind === 'terminal') await endTerminal(context, one.workload.id)
    }),
  )
  const known = new Set(adopted.map(({ workload }) => groupOf(workload)))
  for (const group of cgroups?.groups().filter((name) => !known.has(name)) ?? []) await removeStrayGroup(cgroups, group)
}

async function endTerminal(context: LifecycleContext, id: string): Promise<void> {
  try {
    await stop(context, id, 0)
    await remove(context, id)
  } catch (error) {
    context.log(messageOf(error))
  }
}

async function removeStrayGroup(cgroups: Cgroups | undefined, group: string): Promise<void> {
  await isTrueWithin(() => {
    cgroups?.kill(group)
    return cgroups?.remove(group) ?? true
  }, STRAY_DEADLINE_MS)
}
