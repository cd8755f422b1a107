const SHARED_ADDRESS = '127.0.0.1'

export interface LinkedOwner {
  ownerId: string
  number: number
  networkId: string
  names: string[]
  instanceIds: string[]
}

interface ReplacedFile {
  source: string
  target: string
}

/** What an engine before this one has left running. */
export interface Adopted {
  id: string
  ownerId: string
  recordDir: string
}

export interface Attachment {
  address: string
  path: string | undefined
  files: readonly ReplacedFile[]
  joined: Promise<void>
  left(): void
}

export interface Workload {
  id: string
  ownerId: string
  recordDir: string
  networkId: string | undefined
  isHost: boolean
}

export interface Networks {
  readonly areOwn: boolean
  readonly gateway: string
  enter(workload: Workload): Promise<Attachment>
  leave(id: string): Promise<void>
  addressOf(id: string): string
  link(owners: readonly LinkedOwner[]): Promise<void>
  siblingHost?(ownerNumber: number): string
  close(options: { isEmpty: boolean }): Promise<void>
}

export const HOST_ATTACHMENT: Attachment = {
  address: SHARED_ADDRESS,
  path: undefined,
  files: [],
  joined: Promise.resolve(),
  left: () => {},
}
