import { repositoryKey } from '../../../../shared/repository.ts'
import type { AppContext } from '../../context.ts'
import { changeWait, waitsFor } from '../../repositories/wait-store.ts'
import { serviceById } from '../../services/store.ts'
import { wokenLookAt } from './plan.ts'

export interface ToldChecks {
  workspaceId: string
  urls: readonly string[]
  commit: string
}

/** Has services of a workspace look soon that wait for a commit of which the host has told. Belongs in a transaction. */
export function wakeWaits({ db, now, work }: Pick<AppContext, 'db' | 'now' | 'work'>, { workspaceId, urls, commit }: ToldChecks): void {
  const keys = new Set(urls.map(repositoryKey))
  for (const wait of waitsFor(db, commit)) {
    const isTheirs = serviceById(db, wait.serviceId)?.workspaceId === workspaceId
    if (!isTheirs || !keys.has(repositoryKey(wait.repository))) continue
    changeWait(db, wait, { nextLookAt: wokenLookAt(wait, now()) })
    work.poke('service', wait.serviceId)
  }
}
