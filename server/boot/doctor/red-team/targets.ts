export interface Targets {
  controlFiles: string[]
  neighbourFiles: string[]
  folders: FolderTarget[]
  writable: string[]
  processes: ProcessTarget[]
  processNamespace: string
  sockets: string[]
  listeners: ListenerTarget[]
  neighbourListeners: ListenerTarget[]
  names: { name: string; port: number }[]
  neighbourTmpFiles: string[]
}

export const NEXT_SOURCE = { folder: 'next', file: 'Procfile' }

export interface FolderTarget {
  path: string
  ownNames: string[]
}

export interface ProcessTarget {
  what: string
  pid: number
  startTicks: number
}

export interface ListenerTarget {
  what: string
  host: string
  port: number
}
