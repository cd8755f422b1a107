import type { Deadlines } from '../limits/deadlines.ts'
import type { IngressLimits } from '../limits/limits.ts'
import type { Unsent } from '../limits/unsent.ts'
import type { RequestHead } from '../message/request-head.ts'
import type { ClientSide, Exchange } from './exchange.ts'
import type { RequestNote } from './request-note.ts'

/** A client's connection, whatever protocol it speaks, as the listener sees it. */
export interface Connection {
  received(bytes: Buffer): void
  /** The socket takes bytes again. */
  drained(): void
  /** The client has closed its side. */
  ended(): void
  gone(): void
  /** Closes the connection once it is between two requests, as the ingress ends. */
  closeWhenIdle(): void
  /** Asks the client for no further request on it, where the protocol can say so between two answers. */
  announceEnd?(): void
  /** Ends it at once. */
  drop(): void
}

/** What all client connections share. */
export interface ClientContext {
  readonly limits: IngressLimits
  readonly deadlines: Deadlines
  readonly unsent: Unsent
  /** Set once the ingress is to end: no connection is kept alive any more. */
  readonly isEnding: boolean
  isTrusted(address: string): boolean
  /** Finds who answers; undefined when it has been answered on the spot. */
  answer(head: RequestHead, client: ClientSide): Exchange | undefined
  /** The connection is gone. */
  left(connection: Connection): void
  /** A request is over, however it ended: told once for each, those that were refused included. */
  finished(note: RequestNote, client: ClientSide): void
}

export type ClientSocket = Bun.Socket<Connection>
