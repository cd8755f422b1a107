/** What an engine is told to run: values only, so that it may run elsewhere. No path, user or process of this machine. */

import type { Stack } from '../../platform/stack.ts'

/** The most a workload may use; the plan of its owner in figures. */
export interface Limits {
  /** Cores: 0.5 is half of one core's time. */
  cpu: number
  memoryBytes: number
  /** Processes and threads together. */
  pids: number
}

/** `live` is what answers people; `background` is what can wait, and yields processors, disk and memory to it. */
export type Priority = 'live' | 'background'

/** Services, say, have something run. Engines know no more of them. */
export interface Owner {
  id: string
  /** No other owner of this installation has it. Engines make user ids and addresses of it, and nobody else asks which. */
  number: number
}

/** A private network by its name: the owners that are in one reach each other, and nobody else reaches them. */
export interface PrivateNetwork {
  name: string
}

export interface View {
  root: string
  home: string
  secrets: string
  /** The value of PATH in which the programs of the stack and of the system are found. */
  searchPath: string
  volume?: string
  /** Folder of the material that the workload asked for. */
  material?: string
  /** Folders of the programs beside those that it is run in, by their names. */
  beside?: Readonly<Record<string, string>>
  /** What the program is told as `PORT`; absent where it listens nowhere. */
  port?: number
}

/** What is run in: built files by the digest of their content, programs that come with the platform by name, or the folder of a build while it is built. */
export type Files =
  | { artifact: string }
  | {
      programs: string
      /** Names of further programs that the command can read and run. */
      beside?: readonly string[]
    }
  | {
      build: string
      /** The folder below the build's own that the command begins in. */
      dir: string
    }

export interface SecretFile {
  name: string
  content: string
}

export interface VolumeMount {
  volumeId: string
  mountPath: string
}

export interface Workload {
  owner: Owner
  files: Files
  /** The user's own shell command. It runs inside the sandbox and nowhere else. */
  command: string
  /** The whole environment of the command: nothing is added to it and nothing inherited. */
  env(view: View): Record<string, string>
  /** Files that the command may read. The key changes whenever they do; `read` is called only where an engine lacks them under that key. */
  secretFiles?: { key: string; read(): readonly SecretFile[] }
  limits: Limits
  /** Absent: what runs until it is stopped is live, what runs once and terminals are in the background. */
  priority?: Priority
  volume?: VolumeMount
  /** Name of a folder that was laid out for the workload, which it can read. */
  material?: string
  /** The owner's private network, unless `link` has told of another since; the machine's own even where others have one of their own; or one that reaches nobody's. */
  network: PrivateNetwork | 'host' | 'none'
  /** One of the kinds that the engine's capabilities name. */
  stack: Stack
  /** The workload may make user namespaces of its own, as a sandboxed Chromium does. */
  allowsUserNamespaces?: true
}

/** A workload whose output is kept, under a name that is its owner's alone; what has the same name is appended to one output. */
interface LoggedWorkload extends Workload {
  outputName: string
}

export interface InstanceSpec extends LoggedWorkload {
  /** Names one instance for its life; after `remove` it may be started again under the same id. */
  instanceId: string
  deployId: string
  /** Absent for what listens nowhere. The engine chooses where it is reached: at this port, where the instance has an address of its own. */
  listens?: { preferredPort: number }
  /** Set for what runs to its end (a job, a build step); absent for what goes on until it is stopped. */
  runs?: 'once'
}

/** An interactive command. It has a terminal in place of a kept output, and nothing of it outlives the terminal. */
export interface TerminalSpec extends Workload {
  terminalId: string
  columns: number
  rows: number
  /** A running instance of the same owner whose processes, files and network the command is to see; absent for a sandbox of its own. */
  joins?: string
  /** Given what the command prints, as it comes; see `pause`. */
  onOutput(bytes: Uint8Array): void
}
