import { SHARED_ADDRESS } from '../../port/loopback-address.ts'
import type { LinkedService } from '../../port/port.ts'

/** A file of ours that a workload sees in place of one of the machine's. */
interface ReplacedFile {
  source: string
  target: string
}

/** What a workload is launched with. */
export interface Attachment {
  /** Where the host reaches it. */
  address: string
  /** Where `nsenter --net=` finds its namespace until `left` is called; undefined in the machine's own network. */
  path: string | undefined
  /** Files of ours that it sees in place of the machine's. */
  files: readonly ReplacedFile[]
  /** Resolves when it and its siblings reach one another. */
  joined: Promise<void>
  /** To be called once the workload is inside, or never will be. */
  left(): void
}

export interface Workload {
  id: string
  recordDir: string
  networkId: string | undefined
  /** It is to run in the machine's own network. */
  isHost: boolean
}

/** Where workloads are in the network: each in one of its own, or all in the machine's. */
export interface Networks {
  readonly areOwn: boolean
  /** The host as instances see it. */
  readonly gateway: string
  enter(workload: Workload): Promise<Attachment>
  /** Idempotent. */
  leave(id: string): Promise<void>
  addressOf(id: string): string
  link(services: readonly LinkedService[]): Promise<void>
  /** Gives back what nobody uses; everything when no workload is left. */
  close(options: { isEmpty: boolean }): Promise<void>
}

/** In the machine's own network, with the machine's own names. */
export const HOST_ATTACHMENT: Attachment = {
  address: SHARED_ADDRESS,
  path: undefined,
  files: [],
  joined: Promise.resolve(),
  left: () => {},
}
