import type { Engine } from '../port/port.ts'
import type { Limits, Priority } from '../port/workload.ts'
import type { LinkedOwner } from './network/networks.ts'
import type { HeldPort } from './network/port-pool.ts'

/** What the machine is told to run: folders, users and files of it. Placing (placing/) makes these of the values of the port. */

export type VolumeMounts = 'images' | 'folders' | 'nowhere'

export const IMAGE_ROOT = 'data'

export interface DiskMount {
  source: string
  /** The folder `IMAGE_ROOT` in an image is what is seen. */
  isImage: boolean
  target: string
}

export interface Sandbox {
  ownerId: string
  /** Numeric ids that belong to this owner alone; they need no passwd entry. Both are ignored where we are not root. */
  uid: number
  gid: number
  homeDir: string
  tmpDir: string
  readOnlyBinds: string[]
  writableBinds?: string[]
  coveredDirs?: string[]
  networkId?: string
  sharesHostNetwork?: true
  disk?: DiskMount
  /** A folder of `readOnlyBinds` that is writable to the workload where the machine can do so; what it writes there goes with it. */
  layerOver?: string
  allowsUserNamespaces?: true
}

interface Workload {
  command: string
  cwd: string
  env: Record<string, string>
  sandbox: Sandbox
  limits: Limits
  priority?: Priority
  outputPath: string
}

export interface ProcessSpec extends Workload {
  instanceId: string
  deployId: string
  port?: number
  runs?: 'once'
}

export interface ProcessTerminalSpec extends Omit<Workload, 'outputPath'> {
  terminalId: string
  columns: number
  rows: number
  joins?: string
  onOutput(bytes: Uint8Array): void
}

type PlacedCall = 'link' | 'start' | 'openTerminal' | 'output' | 'volumes' | 'limitSpace' | 'heldSpace' | 'emptyTemporary'

export interface ProcessEngine extends Omit<Engine, PlacedCall> {
  exposeLoopback: NonNullable<Engine['exposeLoopback']>
  link(owners: readonly LinkedOwner[]): Promise<void>
  readonly volumeMounts: VolumeMounts
  /** A port for an instance that is about to be started, which no other of the same network is given meanwhile. @throws AppError `unavailable` when all are in use. */
  takePort(wanted: { preferredPort: number; sharesHostNetwork?: boolean }): HeldPort
  start(spec: ProcessSpec): Promise<void>
  pidOf(id: string): number | undefined
  layersOf(ownerId: string): string[]
  openTerminal(spec: ProcessTerminalSpec): ReturnType<Engine['openTerminal']>
}
