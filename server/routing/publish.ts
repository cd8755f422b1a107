import type { Context } from '../context.ts'
import { createPublisher, type Publisher } from './publisher.ts'
import { buildRouteTable } from './table.ts'

/** Brings the ingress's routes up to what the database says. */
export type RoutePublisher = Publisher

export function createRoutePublisher(context: Omit<Context, 'routes' | 'work'>): RoutePublisher {
  return createPublisher({
    what: 'routes',
    build: () => buildRouteTable(context),
    send: (hosts, version) => context.ingress.publish({ version, hosts }),
    log: context.log,
    signal: context.stopping,
    now: context.now,
  })
}
