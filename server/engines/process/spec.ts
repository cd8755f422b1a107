import type { Engine } from '../port/port.ts'
import type { Limits, Priority } from '../port/workload.ts'

/** What the machine is told to run: folders, users and files of it. Placing (placing/) makes these of the values of the port. */

/** The folder of an image that is the disk: beside it stands what the file system keeps for itself. */
export const IMAGE_ROOT = 'data'

/** A folder, or an ext4 file system in a file, that a workload sees at a path of its own choosing. */
export interface DiskMount {
  source: string
  /** Of an image, the folder `IMAGE_ROOT` in it is what is seen. */
  isImage: boolean
  /** A clean absolute path of plain characters. The machine's file system is left as it is, whether it has such a folder or not. */
  target: string
}

/** Who a workload runs as and which parts of the machine it sees. */
export interface Sandbox {
  serviceId: string
  /** Numeric ids that belong to this service alone; they need no passwd entry. Both are ignored where we are not root. */
  uid: number
  gid: number
  homeDir: string
  /** Seen by the workload as /tmp (and /var/tmp). */
  tmpDir: string
  /** Folders inside private homes (rustup's in root's, say) that are made readable at the same path. */
  readOnlyBinds: string[]
  /** Folders inside private homes that are made writable at the same path: a build's own directories and cache. */
  writableBinds?: string[]
  /** Folders in which it sees only what is bound below them, where workloads see a file system of their own. */
  coveredDirs?: string[]
  /** The private network whose names the workload knows and whose members it reaches; absent for one that reaches nobody's (a build). */
  networkId?: string
  /** Runs in the machine's own network even where others have one of their own. */
  sharesHostNetwork?: true
  /** Ignored where volumes are mounted `nowhere`. */
  disk?: DiskMount
  /** A folder of `readOnlyBinds` that is writable to the workload where the machine can do so; what it writes there goes with it. */
  layerOver?: string
  /** The workload may make user namespaces of its own, as a sandboxed Chromium does. */
  allowsUserNamespaces?: true
}

interface Workload {
  /** The user's own shell command. It runs inside the sandbox and nowhere else. */
  command: string
  cwd: string
  /** The whole environment of the command: nothing is added to it and nothing inherited. */
  env: Record<string, string>
  sandbox: Sandbox
  limits: Limits
  /** Absent: instances are live, tasks and terminals in the background. */
  priority?: Priority
  /** Both output streams are appended to this file, which is made 0600 when missing. */
  outputPath: string
}

export interface ProcessSpec extends Workload {
  /** Names one instance for its life; after `remove` it may be started again under the same id. */
  instanceId: string
  deployId: string
  /** Where the command is expected to listen; 0 for one that listens nowhere (a worker, a job). */
  port: number
}

export interface ProcessTaskSpec extends Workload {
  /** The deploy's id and the step. */
  taskId: string
  timeoutMs: number
}

/** An interactive command. It has a terminal in place of an output file, and nothing of it outlives the terminal. */
export interface ProcessTerminalSpec extends Omit<Workload, 'outputPath'> {
  taskId: string
  columns: number
  rows: number
  /** A running instance of the same service whose processes, files and network the command is to see; absent for a sandbox of its own. */
  joins?: string
  /** Given what the command prints, as it comes; see `pause`. */
  onOutput(bytes: Uint8Array): void
}

/** Runs what stands laid out on this machine. */
export interface ProcessEngine extends Omit<Engine, 'start' | 'runTask' | 'openTerminal'> {
  /** See `Engine.start`. */
  start(spec: ProcessSpec): Promise<void>
  /** See `Engine.runTask`. */
  runTask(task: ProcessTaskSpec, signal: AbortSignal): ReturnType<Engine['runTask']>
  /** See `Engine.openTerminal`. */
  openTerminal(spec: ProcessTerminalSpec): ReturnType<Engine['openTerminal']>
}
