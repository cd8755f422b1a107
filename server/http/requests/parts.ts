import type { Server } from 'bun'
import type { ServerLog } from '../../platform/server-log.ts'
import type { Identify } from '../access/authenticate.ts'
import type { CorsRules } from '../access/cors.ts'
import type { IdempotencyStore } from '../answers/idempotency.ts'
import type { AuditPort } from '../handlers/audit.ts'
import type { AddressReader } from '../limits/client-address.ts'
import type { RateLimits } from '../limits/rate-limits.ts'
import type { SocketData, SocketHub } from '../sockets/sockets.ts'

export type HttpServer = Server<SocketData>

/** What serving needs of the rest of the server; given by the composition root. */
export interface HttpParts {
  identify: Identify
  audit: AuditPort
  limits: RateLimits
  /** What pages of other origins may do; undefined is nothing. */
  cors: CorsRules | undefined
  idempotency: IdempotencyStore
  addressOf: AddressReader
  /** Origins of our own pages. The port is known only once the server listens, so this is asked for with each request. */
  ownOrigins(): ReadonlySet<string>
  /** The listening server; null before it listens. */
  server(): HttpServer | null
  sockets: SocketHub
  /** What a person is shown who opened a URL of ours that answers an error. */
  errorPage(error: unknown, requestId: string): Response
  log: ServerLog
  isHttps: boolean
  /** Body limits of operations that need another than the default, by operation id. */
  maxBodyBytes: Readonly<Record<string, number>>
}
