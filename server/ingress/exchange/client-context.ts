import type { Deadlines } from '../limits/deadlines.ts'
import type { IngressLimits } from '../limits/limits.ts'
import type { Unsent } from '../limits/unsent.ts'
import type { RequestHead } from '../message/request-head.ts'
import type { ClientSide, Exchange } from './exchange.ts'
import type { RequestNote } from './request-note.ts'

export interface Connection {
  received(bytes: Buffer): void
  drained(): void
  ended(): void
  gone(): void
  closeWhenIdle(): void
  announceEnd?(): void
  drop(): void
}

export interface ClientContext {
  readonly limits: IngressLimits
  readonly deadlines: Deadlines
  readonly unsent: Unsent
  /** Set once the ingress is to end: no connection is kept alive any more. */
  readonly isEnding: boolean
  isTrusted(address: string): boolean
  /** Finds who answers; undefined when it has been answered on the spot. */
  answer(head: RequestHead, client: ClientSide): Exchange | undefined
  left(connection: Connection): void
  finished(note: RequestNote, client: ClientSide): void
}

export type ClientSocket = Bun.Socket<Connection>
