import { createPublisher, type Publisher } from '../../platform/work/publisher.ts'
import type { AppContext } from '../context.ts'
import { linksOf, membersOf } from './links.ts'

export function createLinkPublisher(context: Omit<AppContext, 'routes' | 'work' | 'sets'>): Publisher {
  return createPublisher({
    what: 'private names',
    build: () => linksOf(membersOf(context.db)),
    send: (owners) => context.engine.link(owners),
    log: context.log,
    signal: context.stopping,
    now: context.now,
    after: context.after,
  })
}
