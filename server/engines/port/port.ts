import type { SizeUnit } from '../../platform/process/folder-size.ts'
import type { StackKind } from '../../platform/stack.ts'
import type { End } from './end.ts'
import type { Outputs } from './output.ts'
import type { Volumes } from './volumes.ts'
import type { InstanceSpec, Owner, TerminalSpec } from './workload.ts'

/**
 * The engine port: what the platform asks of whatever runs workloads. Each technology is one adapter of this type, and all
 * of them pass the one contract suite in test/engines/contract.ts.
 * An engine keeps no desired state. It starts, watches and stops what it is told to, survives the death of the control plane
 * (instances keep running, a new engine on the same state adopts them), and can list everything it ever started, so that the
 * caller can remove what it does not know any more.
 */

export interface OpenTerminal {
  /** Types into the terminal, in order. Resolves when it has taken all of it, or has ended: who waits for that bounds what waits in memory. */
  write(bytes: Uint8Array): Promise<void>
  /** Nothing more is read until `resume`, so that a command that prints waits; a little that was read before may still come. Idempotent. */
  pause(): void
  /** Goes on after `pause`. Idempotent. */
  resume(): void
  /** Tells the command how large its window is, in characters. */
  resize(columns: number, rows: number): void
  /** Resolves when the command has ended and nothing of it is left. */
  readonly ended: Promise<End>
  /** Hangs up and kills what is left. Returns when nothing is; idempotent. */
  close(): Promise<void>
}

export interface LinkedOwner {
  /** Its address may come of its number, and stays as long as that does. */
  owner: Owner
  /** The name of its private network. All that it has running there becomes a member, and no member of another. */
  network: string
  /** Host names without a dot, the one that is told to people first; none for an owner that listens nowhere. */
  names: string[]
  /** Where connections to it go, each to one of these in turn; empty while nothing of it runs. */
  instanceIds: string[]
}

export interface Listener {
  port: number
  /** Connections reach the port at the instance's address, there once `exposeLoopback` was asked for it, or by no way of the engine. */
  reach: 'address' | 'loopback' | 'nowhere'
}

/** Where the ingress and the health check reach an instance, as its engine chose. */
export interface Endpoint {
  host: string
  /** The port that the program is told as `PORT`; absent where an earlier version started it, which noted none. */
  port?: number
}

export type InstanceState =
  | {
      status: 'running'
      startedAt: string
      endpoint?: Endpoint
    }
  /** What was used is told of what runs once, where the engine can tell. */
  | (End & { status: 'exited'; at: string; used?: Used })

export type ExitedState = Extract<InstanceState, { status: 'exited' }>

export interface Guarantee {
  id: string
  title: string
  holds: boolean
  reason?: string
}

export interface ListedWorkload {
  instanceId: string
  ownerId: string
}

export interface Usage {
  /** Processor time since the start, over all cores and including children that have ended. */
  cpuSeconds: number
  memoryBytes: number
  /** Its volume; absent where it has none that has a size of its own. */
  disk?: VolumeSpace
}

/** What a workload took from its start to its end, with all children. */
export interface Used {
  cpuSeconds: number
  /** The most that it held at once. Files that the kernel keeps in memory at will are not counted, as far as that is known at its end. */
  peakMemoryBytes: number
}

/** In bytes. Whoever fills a volume is refused where nothing is free. */
export interface VolumeSpace {
  usedBytes: number
  sizeBytes: number
}

/** Bytes or files, as was asked for. */
export interface HeldSpace {
  amount: number
  /** There is too much to be measured in a few seconds: it may be anything above the amount. */
  isPartial: boolean
}

/** Space in MiB, and a number of files. */
export interface SpaceLimit {
  mb: number
  files: number
}

export interface StopOptions {
  /** Time between SIGTERM and SIGKILL. */
  graceMs: number
}

export type ExitListener = (instanceId: string, state: ExitedState) => void

/** What differs between engines, as facts to plan by: nobody asks an engine for its name. */
export interface Capabilities {
  /** Each instance has a network of its own, as a namespace, container or pod has: two may listen on the same port number and never meet. */
  ownNetworks: boolean
  /** Connections that siblings have to an instance past the ingress can be counted, so that a drain and a sleep wait for them. */
  siblingConnections: boolean
  /** Instances can be frozen: they keep their memory and take no processor time. */
  freeze: boolean
  /** Where a terminal can be opened: in a running instance, or in surroundings of its own. */
  terminals: readonly ('joined' | 'own')[]
  /** What programs may need to run here. Releases are built for the first of these. */
  stacks: readonly [StackKind, ...StackKind[]]
}

export interface Engine {
  readonly name: string
  /** Names the engine's records: it changes when they are lost, and only then. */
  readonly epoch: string
  readonly capabilities: Capabilities
  /** Where connections of this machine come from, as workloads see them. */
  readonly hostAddress: string
  readonly output: Outputs
  readonly volumes: Volumes

  /** What this engine promises beyond the port, and where it cannot hold that here, why. */
  guarantees(): Promise<Guarantee[]>

  /**
   * Starts an instance, or what runs once; nothing happens when this id already runs. Until removed an id runs at most once, whatever becomes
   * of the control plane.
   * @throws AppError `conflict` when the id has run and ended and was not removed, `unavailable` when the machine refuses.
   */
  start(spec: InstanceSpec): Promise<void>

  /** How it stands, ended ones until they are removed; undefined for one that was never started here. */
  inspect(instanceId: string): Promise<InstanceState | undefined>

  /** Everything under our label but terminals, running or ended and not yet removed. */
  list(): Promise<ListedWorkload[]>

  /** SIGTERM to the instance, SIGKILL to everything that is left after `graceMs`. Returns when nothing of it is left; idempotent. */
  stop(instanceId: string, options: StopOptions): Promise<void>

  /** Forgets an instance that has ended, and how it did. Idempotent. @throws AppError `conflict` while it runs. */
  remove(instanceId: string): Promise<void>

  /** Calls back once for each instance that ends, adopted ones included; returns the function that ends the subscription. */
  onExit(listener: ExitListener): () => void

  /** Opens a terminal with a command in it. @throws AppError `unavailable` when the machine refuses, `not_found` when `joins` does not run. */
  openTerminal(spec: TerminalSpec): Promise<OpenTerminal>

  /** Stops all processes of a running instance where they are, so that they take no processor time. Idempotent; survives the control plane. */
  freeze(instanceId: string): Promise<void>

  /** Lets a frozen instance go on. Idempotent. A frozen one can also be stopped and removed like any other. */
  thaw(instanceId: string): Promise<void>

  /**
   * Puts owners into these private networks and makes exactly these reachable by name, each for its own network. It is in force for new
   * connections at once; connections that are open go on. Idempotent.
   */
  link(owners: readonly LinkedOwner[]): Promise<void>

  /** Where the ingress is to listen for the siblings of an owner; absent where the engine leads them to its instances itself. */
  siblingHost?(owner: Owner): string

  /**
   * Makes a port that a running instance has on loopback only reachable at its address; tells whether there is one. Idempotent and cheap.
   * Absent where nobody can lead into an instance's network from outside: `listeners` tells such a port as reached nowhere there.
   */
  exposeLoopback?(instanceId: string, port: number): Promise<boolean>

  /** Ports that a running instance listens on, and from where each is reached. */
  listeners(instanceId: string): Promise<Listener[]>

  /** Open connections to a port of an instance from anybody but this machine itself: from its siblings. Only where `capabilities.siblingConnections`. */
  siblingConnections(instanceId: string, port: number): Promise<number>

  /** What a running instance has used and holds now; undefined where it does not run or that cannot be told. */
  usage(instanceId: string): Promise<Usage | undefined>

  /** Limits what all workloads of an owner together take outside of volumes, at once and lastingly, or lifts that. Idempotent; without effect where `guarantees` say so. */
  limitSpace(owner: Owner, limit: SpaceLimit | undefined): Promise<void>

  /** What all workloads of these owners hold outside of volumes, by the owner's id: kept output and removed files that are open included. */
  heldSpace(owners: readonly Owner[], unit: SizeUnit, signal: AbortSignal): Promise<Map<string, HeldSpace>>

  /** Removes what workloads of an owner keep for a while only, their /tmp. They do not run meanwhile; whoever starts next finds it empty. */
  emptyTemporary(owner: Owner): Promise<void>

  /** Kills whatever is left of an owner and removes all state about it. Idempotent. */
  removeOwner(ownerId: string): Promise<void>

  /** Stops watching. Everything keeps running but terminals, which end. */
  close(): Promise<void>
}
