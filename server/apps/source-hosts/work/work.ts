import type { AppContext } from '../../context.ts'
import { createCheckWork } from '../checks/work.ts'
import { createHookWork } from '../hooks/work.ts'
import { createReportWork } from '../reports/work.ts'

export interface SourceHostWork {
  poke(installationId: string): void
  readonly ofServices: { poke(serviceId: string): void }
  readonly ofDeploys: { poke(): void }
  readonly ofEvents: { poke(workspaceId: string): void }
  pokeAll(): void
  settled(): Promise<void>
}

/** All that is done at source hosts by itself. */
export function createSourceHostWork(context: AppContext): SourceHostWork {
  const hooks = createHookWork(context)
  const reports = createReportWork(context)
  const checks = createCheckWork(context)
  const parts = [hooks, reports, checks]
  return {
    poke: hooks.poke,
    ofServices: {
      poke(serviceId) {
        hooks.ofServices.poke(serviceId)
        checks.poke(serviceId)
      },
    },
    ofDeploys: { poke: reports.pokeAll },
    ofEvents: reports,
    pokeAll() {
      for (const part of parts) part.pokeAll()
    },
    settled: async () => void (await Promise.all(parts.map((part) => part.settled()))),
  }
}
