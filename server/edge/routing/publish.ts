import { streamsOf } from '../../apps/private-network/streams.ts'
import { createPublisher, type Publisher } from '../../platform/work/publisher.ts'
import type { EdgeContext } from '../context.ts'
import { buildDatabaseRoutes } from './databases.ts'
import { buildRouteTable } from './table.ts'

export type RoutePublisher = Publisher

export function createRoutePublisher(context: Omit<EdgeContext, 'routes' | 'work' | 'sets'>): RoutePublisher {
  return createPublisher({
    what: 'routes',
    build: () => ({ hosts: buildRouteTable(context), streams: streamsOf(context), databases: buildDatabaseRoutes(context) }),
    send: (table, version, last) => context.ingress.publish({ version, ...table }, last && { version: last.version, ...last.table }),
    log: context.log,
    signal: context.stopping,
    now: context.now,
    after: context.after,
  })
}
