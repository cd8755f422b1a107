import { setTimeout as sleep } from 'node:timers/promises'
import type { Context } from '../context.ts'
import { describeError } from '../server-log.ts'
import { buildRouteTable } from './table.ts'

/** Brings the ingress's routes up to what the database says. */
export interface RoutePublisher {
  /** Returns when the ingress has taken routes at least as new as the database at the time of the call. */
  publish(): Promise<void>
  /** The same for an ingress that has just been started, whatever was published before. */
  republish(): Promise<void>
}

const FIRST_RETRY_MS = 50
const LONGEST_RETRY_MS = 2000

/** One publication at a time; calls that arrive meanwhile share the next one. An ingress that is away is waited for. */
export function createRoutePublisher(context: Omit<Context, 'routes' | 'work'>): RoutePublisher {
  let published = ''
  let version = 0
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined

  async function publishOnce(): Promise<void> {
    for (let retryMs = FIRST_RETRY_MS; ; retryMs = Math.min(retryMs * 2, LONGEST_RETRY_MS)) {
      const hosts = buildRouteTable(context)
      const text = JSON.stringify(hosts)
      if (text === published) return
      version = Math.max(context.now(), version + 1)
      try {
        await context.ingress.publish({ version, hosts })
        published = text
        return
      } catch (error) {
        context.log.error('routes not published', describeError(error))
        await sleep(retryMs, undefined, { signal: context.stopping })
      }
    }
  }

  function startNext(): Promise<void> {
    next = undefined
    running = publishOnce().finally(() => {
      running = undefined
    })
    return running
  }

  function publish(): Promise<void> {
    if (running === undefined) return startNext()
    next ??= running.then(startNext, startNext)
    return next
  }

  return {
    publish,
    republish() {
      published = ''
      return publish()
    },
  }
}
