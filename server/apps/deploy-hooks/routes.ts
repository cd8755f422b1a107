import { AppError, invalidValue } from '../../../shared/error.ts'
import { answer, type Handlers } from '../../http/handlers/call.ts'
import { createRateLimiter, type RateLimiter } from '../../http/limits/rate-limit.ts'
import { hashToken } from '../../identity/tokens/token.ts'
import { networkOf } from '../../platform/network/network-of.ts'
import type { AppContext } from '../context.ts'
import { createDeploy } from '../deploys/operations.ts'
import { requireService } from '../services/require.ts'
import { type StoredService, serviceById } from '../services/store.ts'
import { latestSource } from '../sources/store.ts'
import { rotateHook, showHook } from './operations.ts'
import { serviceOfHook } from './store.ts'

type HookIds = 'getDeployHook' | 'rotateDeployHook' | 'callDeployHook' | 'openDeployHook'
type Called = Parameters<Handlers<'callDeployHook', AppContext>['callDeployHook']>[0]

/** A minute. One service is deployed at most so often by its hook, and one address asks at most so often with tokens that are nobody's. */
const DEPLOYS_OF_SERVICE = 10
const GUESSES_OF_ADDRESS = 20

export function createDeployHookRoutes(context: AppContext): Handlers<HookIds, AppContext> {
  const deploys = createRateLimiter(DEPLOYS_OF_SERVICE, context.now)
  const guesses = createRateLimiter(GUESSES_OF_ADDRESS, context.now)

  async function deployByHook({ params, query, request, clientAddress, change, note }: Called) {
    if (request.method === 'HEAD') throw new AppError('bad_request', 'A HEAD deploys nothing. Send a POST, or a GET.')
    const service = serviceOf(context, params.token)
    if (service === undefined) {
      take(guesses, networkOf(clientAddress))
      throw new AppError('not_found', 'This is no deploy hook. It may have been rotated: the service tells its hook of now.')
    }
    take(deploys, service.id)
    const { ref } = query
    if (query.imageUrl !== undefined)
      throw invalidValue('/imageUrl', 'This server runs no images. Leave imageUrl out: the newest source is deployed.')
    refuseWithoutSource(context, service)
    return change(() => {
      const { id } = createDeploy(context, service, { trigger: 'deploy_hook', ...(ref !== undefined && { ref }) })
      note({ workspaceIds: [service.workspaceId], target: id, metadata: { serviceId: service.id } })
      return answer(201, { deploy: { id } })
    })
  }

  return {
    getDeployHook: ({ actor, params }) => showHook(context, requireService(context, actor, params.serviceId).id),
    rotateDeployHook: ({ actor, params }) => rotateHook(context, requireService(context, actor, params.serviceId).id),
    callDeployHook: deployByHook,
    openDeployHook: deployByHook,
  }
}

/** Found by the hash, whose time says nothing of the token. */
function serviceOf({ db }: AppContext, token: string): StoredService | undefined {
  const id = serviceOfHook(db, hashToken(token))
  const service = id === undefined ? undefined : serviceById(db, id)
  return service?.deletedAt === null ? service : undefined
}

function take(limiter: RateLimiter, key: string): void {
  const { retryAfterSeconds } = limiter.take(key)
  if (retryAfterSeconds === undefined) return
  throw new AppError('rate_limited', `This hook is called too often. Try again in ${retryAfterSeconds} s.`, { retryAfterSeconds })
}

function refuseWithoutSource({ db }: AppContext, { id, liveDeployId, labels }: StoredService): void {
  if (labels.repo !== '' || liveDeployId !== null || latestSource(db, id) !== undefined) return
  throw new AppError('conflict', 'The service has no source yet, so there is nothing to deploy. Upload some with `cpctl deploy` first.')
}
