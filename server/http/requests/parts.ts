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

export interface HttpParts {
  identify: Identify
  audit: AuditPort
  limits: RateLimits
  cors: CorsRules | undefined
  idempotency: IdempotencyStore
  addressOf: AddressReader
  /** Origins of our own pages. The port is known only once the server listens, so this is asked for with each request. */
  ownOrigins(): ReadonlySet<string>
  server(): HttpServer | null
  sockets: SocketHub
  errorPage(error: unknown, requestId: string): Response
  log: ServerLog
  isHttps: boolean
  maxBodyBytes: Readonly<Record<string, number>>
}
