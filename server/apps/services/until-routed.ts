import { setTimeout as sleep } from 'node:timers/promises'
import { describeError } from '../../platform/server-log.ts'
import type { AppContext } from '../context.ts'

/** An ingress that is away for longer gets the routes when it is back: nobody needs to wait for that. */
const ROUTED_WAIT_MS = 2000

export async function untilRouted({ routes, stopping, log }: Pick<AppContext, 'routes' | 'stopping' | 'log'>): Promise<void> {
  const published = routes.publish().catch((error: unknown) => {
    if (!stopping.aborted) log.error('routes not published', describeError(error))
  })
  await Promise.race([published, sleep(ROUTED_WAIT_MS, undefined, { ref: false })])
}
