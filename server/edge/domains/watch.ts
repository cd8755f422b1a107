import { describeError } from '../../platform/server-log.ts'
import { createDriver, type Driver } from '../../platform/work/driver.ts'
import type { EdgeContext } from '../context.ts'
import { reconcileDomain } from './reconcile.ts'
import { createSemaphore } from './semaphore.ts'

/** Checks wait for name servers nearly all of their time, and those of silent servers take 10 s. */
const CHECKS_AT_ONCE = 64

export function createDomainWatch(context: EdgeContext): Driver {
  const semaphore = createSemaphore(CHECKS_AT_ONCE)
  return createDriver({
    run: (domainId) => reconcileDomain(context, semaphore, domainId),
    onError: (domainId, error) => context.log.error('domain not looked at', { domainId, ...describeError(error) }),
    now: context.now,
    after: context.after,
    signal: context.stopping,
  })
}
