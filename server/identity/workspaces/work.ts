import { describeError } from '../../platform/server-log.ts'
import { createDriver, type Driver } from '../../platform/work/driver.ts'
import type { IdentityContext } from '../context.ts'
import type { WorkspaceContents } from './contents.ts'
import { reconcileWorkspace } from './remove.ts'
import { workspacesToRemove } from './store.ts'

export interface WorkspaceWork extends Driver {
  pokeAll(): void
}

export function createWorkspaceWork(context: IdentityContext, contents: readonly WorkspaceContents[]): WorkspaceWork {
  const driver = createDriver({
    run: (workspaceId) => reconcileWorkspace(context, contents, workspaceId),
    onError: (workspaceId, error) => context.log.error('workspace not removed', { workspaceId, ...describeError(error) }),
    now: context.now,
    after: context.after,
    signal: context.stopping,
  })
  return { ...driver, pokeAll: () => workspacesToRemove(context.db).forEach(driver.poke) }
}
