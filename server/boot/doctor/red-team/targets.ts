/** What the red team is told to go for, in the words of its report. All of it is really there, seen from outside. */
export interface Targets {
  /** The control plane's files, its databases among them. */
  controlFiles: string[]
  /** Files of another service, its output among them. */
  neighbourFiles: string[]
  folders: FolderTarget[]
  /** Files and folders that must not be changed. */
  writable: string[]
  processes: ProcessTarget[]
  /** In which these pids mean those processes, as /proc names it. */
  processNamespace: string
  /** Unix sockets; one that begins with `@` has an abstract name. */
  sockets: string[]
  /** The API, ports of the machine, metadata of a cloud. */
  listeners: ListenerTarget[]
  neighbourListeners: ListenerTarget[]
  /** Names and ports of services of another private network. */
  names: { name: string; port: number }[]
  /** Files that a neighbour has put into its own /tmp and /dev/shm. */
  neighbourTmpFiles: string[]
}

/** Stands in `builds`, beside an app's home: what will be its next release. */
export const NEXT_SOURCE = { folder: 'next', file: 'Procfile' }

export interface FolderTarget {
  path: string
  /** Names in it that lead to the app's own files, where folders are rebuilt in a /tmp of its own. */
  ownNames: string[]
}

export interface ProcessTarget {
  what: string
  pid: number
  /** Tells it from another that has its pid in a namespace. */
  startTicks: number
}

export interface ListenerTarget {
  what: string
  host: string
  port: number
}
