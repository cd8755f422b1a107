import { createPublisher, type Publisher } from '../../platform/work/publisher.ts'
import type { AppContext } from '../context.ts'
import { linksOf, listeningOwners } from './links.ts'

export function createLinkPublisher(context: Omit<AppContext, 'routes' | 'work' | 'sets'>): Publisher {
  return createPublisher({
    what: 'private names',
    build: () => linksOf(listeningOwners(context.db)),
    send: (services) => context.engine.link(services),
    log: context.log,
    signal: context.stopping,
    now: context.now,
    after: context.after,
  })
}
