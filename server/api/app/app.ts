import { AppError } from '../../../shared/error.ts'
import { type OperationId, operations } from '../../../shared/operations/all.ts'
import { backupRoutes, redisBackupRoutes } from '../../apps/backups/api/routes.ts'
import { createDeployHookRoutes } from '../../apps/deploy-hooks/routes.ts'
import { deployRoutes } from '../../apps/deploys/routes.ts'
import { diskRoutes } from '../../apps/disks/routes.ts'
import { envGroupRoutes } from '../../apps/env-groups/routes.ts'
import { eventRoutes } from '../../apps/event-lists/routes.ts'
import { createGitRoutes } from '../../apps/git-push/routes.ts'
import { cronJobRoutes } from '../../apps/jobs/cron-routes.ts'
import { jobRoutes } from '../../apps/jobs/routes.ts'
import { keyValueRoutes, redisRoutes } from '../../apps/key-value/routes.ts'
import { notificationRoutes } from '../../apps/notifications/routes.ts'
import { postgresCredentialRoutes } from '../../apps/postgres/credentials/routes.ts'
import { postgresInsightRoutes } from '../../apps/postgres/insight/routes.ts'
import { postgresRoutes } from '../../apps/postgres/routes.ts'
import { createPostgresTunnelRoutes } from '../../apps/postgres/tunnel/routes.ts'
import { previewRoutes } from '../../apps/previews/routes.ts'
import { environmentRoutes } from '../../apps/projects/routes/environment-routes.ts'
import { projectRoutes } from '../../apps/projects/routes/routes.ts'
import { replicationRoutes } from '../../apps/replication/routes.ts'
import { deployKeyRoutes } from '../../apps/repositories/deploy-keys/routes.ts'
import { edgeRuleRoutes } from '../../apps/services/routes/edge-rule-routes.ts'
import { serviceRoutes } from '../../apps/services/routes/routes.ts'
import { settingRoutes } from '../../apps/services/routes/settings-routes.ts'
import { createShellRoutes } from '../../apps/shells/routes.ts'
import { sourceHostRoutes } from '../../apps/source-hosts/api/routes.ts'
import { transferRoutes } from '../../apps/transfers/api/routes.ts'
import { webhookRoutes } from '../../apps/webhooks/routes.ts'
import { certificateRoutes } from '../../edge/certificates/routes.ts'
import { domainRoutes } from '../../edge/domains/routes.ts'
import { createCorsRules } from '../../http/access/cors.ts'
import { keepOwnCookies } from '../../http/access/own-cookies.ts'
import { createIdempotencyStore } from '../../http/answers/idempotency-store.ts'
import type { AnyHandler, Handlers } from '../../http/handlers/call.ts'
import { createAddressReader } from '../../http/limits/client-address.ts'
import { createRateLimits, type RateSettings } from '../../http/limits/rate-limits.ts'
import { raiseHeadLimit, refuseBadHead } from '../../http/mount/head-size.ts'
import { mountAll } from '../../http/mount/mount-all.ts'
import type { HttpParts, HttpServer } from '../../http/requests/parts.ts'
import { createSocketHub } from '../../http/sockets/sockets.ts'
import { createAccountRoutes } from '../../identity/accounts/routes.ts'
import { createAuthRoutes } from '../../identity/accounts/sign-in-routes.ts'
import { twoFactorRoutes } from '../../identity/accounts/two-factor-routes.ts'
import { apiKeyRoutes } from '../../identity/api-keys/routes.ts'
import { auditRoutes } from '../../identity/audit-log/routes.ts'
import { createAuditTrail } from '../../identity/audit-log/trail.ts'
import { createIdentify } from '../../identity/credentials/identify.ts'
import { createUseRecorder } from '../../identity/credentials/use-recorder.ts'
import { createDeviceRoutes } from '../../identity/devices/routes.ts'
import { createInviteRoutes } from '../../identity/invites/routes.ts'
import { createOAuthRoutes } from '../../identity/oauth/routes.ts'
import { createResetRoutes } from '../../identity/resets/routes.ts'
import { roleRoutes } from '../../identity/roles/routes.ts'
import { memberRoutes } from '../../identity/team/routes.ts'
import { quotaRoutes } from '../../identity/workspaces/quota-routes.ts'
import { workspaceRoutes } from '../../identity/workspaces/routes.ts'
import { logRoutes } from '../../insight/logs/routes.ts'
import { metricRoutes } from '../../insight/metrics/routes.ts'
import { type ConnectionGuard, guardConnections } from '../../platform/connections/guard.ts'
import type { ConnectionLimits } from '../../platform/connections/plan.ts'
import { type Address, formatAddress, isLoopback } from '../../platform/network/address.ts'
import { trustedProxies } from '../../platform/network/trusted-proxies.ts'
import { listenProblem } from '../../platform/process/listen-problem.ts'
import { auditEvents } from '../audit/events.ts'
import type { ApiContext } from '../context.ts'
import { mountDocs } from '../docs/mount-docs.ts'
import { createHealthCheck } from '../health/check.ts'
import { platformComponents } from '../health/components.ts'
import { createHealthRoutes } from '../health/routes.ts'
import { mountPages } from '../pages/mount.ts'
import { failureResponse } from '../pages/page/failure.ts'

const MIB = 1024 * 1024

const maxBodyBytes: Partial<Record<OperationId, number>> = {
  createService: 32 * MIB,
  replaceEnvVars: 32 * MIB,
  replaceSecretFiles: 32 * MIB,
  createEnvGroup: 32 * MIB,
  replaceGroupEnvVars: 2 * MIB,
  setGroupSecretFile: 4 * MIB,
}

const STOP_DEADLINE_MS = 10_000

export interface AppOptions {
  /** Longest silence on a connection. A body that arrives slower than 16 KiB in this time counts as silent, and ends with it. */
  idleTimeoutSeconds?: number
  connectionLimits?: Partial<ConnectionLimits>
}

const IDLE_TIMEOUT_SECONDS = 120

export interface App {
  fetch(request: Request): Promise<Response>
  /** Starts listening; with port 0 on any free one. @throws AppError unavailable when the address cannot be listened at. */
  listen(address: Address): Address
  /** Closes WebSockets with 1001, finishes the requests under way and stops listening. Idempotent. */
  stop(): Promise<void>
}

/** @throws Error when the handlers and the table of operations do not fit each other. */
export function createApp(context: ApiContext, { idleTimeoutSeconds = IDLE_TIMEOUT_SECONDS, connectionLimits = {} }: AppOptions = {}): App {
  const { config, db, log, now, publicUrl } = context
  let server: HttpServer | null = null
  let guard: ConnectionGuard | undefined
  const isTrustedProxy = trustedProxies(config.CP_TRUSTED_PROXIES)
  let origins: ReadonlySet<string> = new Set([new URL(publicUrl).origin])
  const sockets = createSocketHub()
  const parts: HttpParts = {
    identify: createIdentify({ db, staticToken: config.SERVICE_API_TOKEN, keyUse: createUseRecorder({ db, log }), now }),
    audit: createAuditTrail(context, auditEvents),
    limits: createRateLimits(rateSettingsOf(config), now),
    cors: createCorsRules(config.CP_CORS_ORIGINS),
    idempotency: createIdempotencyStore(db, context.sealer, now),
    addressOf: createAddressReader(isTrustedProxy, context.ingressProof),
    ownOrigins: () => origins,
    server: () => server,
    sockets,
    errorPage: (error, requestId) => failureResponse(error, { requestId, host: new URL(publicUrl).host }),
    log,
    isHttps: publicUrl.startsWith('https:'),
    maxBodyBytes,
  }
  // Every handler fits its own operation, which its type says; the table as a whole is walked under the general type.
  const all = handlersOf(context) as unknown as Record<string, AnyHandler<ApiContext>>
  const { elysia, dispatch } = mountAll(operations, all, { parts, context })
  mountPages(elysia, parts, { dispatch, context })
  mountDocs(elysia, parts, { table: operations, version: context.version })

  const answer = parts.isHttps ? (request: Request) => elysia.fetch(keepOwnCookies(request)) : elysia.fetch
  const receive = (request: Request) => refuseBadHead(request, parts) ?? answer(request)

  return {
    fetch: async (request) => receive(request),
    listen(address) {
      raiseHeadLimit()
      server = explained(address, () =>
        Bun.serve({
          hostname: address.host,
          port: address.port,
          fetch: receive,
          websocket: sockets.handler,
          idleTimeout: idleTimeoutSeconds,
          // Each operation bounds its own body and says so in the form of our errors.
          maxRequestBodySize: Number.MAX_SAFE_INTEGER,
          development: false,
          // Without it, Bun shares the port with another server that is not in development either.
          reusePort: false,
        }),
      )
      const bound = { host: address.host, port: server.port ?? address.port }
      origins = ownOriginsOf(publicUrl, bound)
      const perAddress = config.CP_API_CONNECTIONS_PER_ADDRESS
      guard = guardConnections({ port: bound.port, perAddress, isTrustedProxy, log, limits: connectionLimits })
      return bound
    },
    async stop() {
      sockets.closeAll()
      if (server === null) return
      const deadline = setTimeout(() => server?.stop(true), STOP_DEADLINE_MS)
      await server.stop()
      clearTimeout(deadline)
      guard?.stop()
    },
  }
}

const rateSettingsOf = (config: ApiContext['config']): RateSettings => ({
  requests: config.CP_RATE_LIMIT,
  writes: config.CP_WRITE_LIMIT,
  deploys: config.CP_DEPLOY_LIMIT,
  signIns: config.CP_SIGN_IN_LIMIT,
})

function explained<T>(address: Address, listen: () => T): T {
  try {
    return listen()
  } catch (cause) {
    throw new AppError('unavailable', `The API cannot listen at ${formatAddress(address)}: ${listenProblem(cause, '--listen')}`, { cause })
  }
}

function handlersOf(context: ApiContext): Handlers<OperationId, ApiContext> {
  const checkHealth = createHealthCheck(platformComponents(context), context.now)
  return {
    ...createAuthRoutes(context),
    ...createAccountRoutes(context),
    ...twoFactorRoutes,
    ...createResetRoutes(context),
    ...createOAuthRoutes(context),
    ...createDeviceRoutes(context),
    ...apiKeyRoutes,
    ...roleRoutes,
    ...workspaceRoutes,
    ...quotaRoutes,
    ...memberRoutes,
    ...createInviteRoutes(context),
    ...serviceRoutes,
    ...eventRoutes,
    ...settingRoutes,
    ...envGroupRoutes,
    ...edgeRuleRoutes,
    ...notificationRoutes,
    ...webhookRoutes,
    ...deployRoutes,
    ...previewRoutes,
    ...createGitRoutes(context),
    ...sourceHostRoutes,
    ...jobRoutes,
    ...cronJobRoutes,
    ...diskRoutes,
    ...domainRoutes,
    ...projectRoutes,
    ...environmentRoutes,
    ...keyValueRoutes,
    ...redisRoutes,
    ...postgresRoutes,
    ...postgresCredentialRoutes,
    ...postgresInsightRoutes,
    ...createPostgresTunnelRoutes(context),
    ...backupRoutes,
    ...redisBackupRoutes,
    ...replicationRoutes,
    ...transferRoutes,
    ...certificateRoutes,
    ...logRoutes,
    ...metricRoutes,
    ...createShellRoutes(context),
    ...createDeployHookRoutes(context),
    ...deployKeyRoutes,
    ...auditRoutes,
    ...createHealthRoutes(checkHealth),
  }
}

function ownOriginsOf(publicUrl: string, listening: Address): ReadonlySet<string> {
  const local = isLoopback(listening) ? ['localhost', '127.0.0.1', '::1'].map((host) => ({ host, port: listening.port })) : []
  return new Set([new URL(publicUrl).origin, ...local.map((address) => new URL(`http://${formatAddress(address)}`).origin)])
}
