import type { MetricsDatabase } from './database.ts'
import { floorTo } from './levels.ts'
import { pauseUnless } from './pause.ts'
import { pruneCoarse, pruneFine, removeSamples, sampledServices } from './retention.ts'
import { rollUp } from './roll-up.ts'

const EVERY_SECONDS = 10 * 60
const PRUNED_EVERY_SECONDS = 60 * 60

export interface Maintenance {
  /** Does what is due at a time, in seconds since 1970, in steps of a few milliseconds; while it is under way, returns with that. */
  run(until: number): Promise<void>
}

export function createMaintenance(database: MetricsDatabase, isService: (id: string) => boolean, stopping: AbortSignal): Maintenance {
  let doneUntil = 0
  let underWay: Promise<void> | undefined
  const pause = pauseUnless(stopping)
  const removeStrangers = async () => {
    for (const service of database.use(sampledServices)) {
      if (!isService(service)) await removeSamples(database, service, pause)
    }
  }
  const work = async (until: number) => {
    await rollUp(database, until, pause)
    await pruneFine(database, until, pause)
    if (floorTo(until, PRUNED_EVERY_SECONDS) > floorTo(doneUntil, PRUNED_EVERY_SECONDS)) {
      await pruneCoarse(database, until, pause)
      await removeStrangers()
    }
    doneUntil = floorTo(until, EVERY_SECONDS)
  }
  return {
    run(until) {
      if (underWay !== undefined) return underWay
      if (floorTo(until, EVERY_SECONDS) <= doneUntil) return Promise.resolve()
      underWay = work(until).finally(() => {
        underWay = undefined
      })
      return underWay
    },
  }
}
