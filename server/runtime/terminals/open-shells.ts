import { AppError } from '../../../shared/error.ts'
import { createLeases } from '../../platform/work/leases.ts'

/** Each open shell takes a terminal and, without an instance to join, a plan's worth of memory. */
const MAX_SHELLS = 100
const MAX_SHELLS_OF_SERVICE = 10

export interface OpenShell {
  shellId: string
  serviceId: string
  workspaceId: string
  /** Closes the client's socket with this reason, and then what the shell runs. */
  end(reason: string): void
}

/** Knows the open shells, so that nobody opens them without end and all of a service can be ended. */
export interface OpenShells {
  /** The function returned takes it out again. @throws AppError conflict when the service, `unavailable` when the server has too many. */
  take(shell: OpenShell): () => void
  countOf(workspaceId: string): number
  has(shellId: string): boolean
  end(shellId: string, reason: string): void
  endAll(serviceId: string, reason: string): void
}

export function createOpenShells(): OpenShells {
  const open = createLeases()
  const shells = new Set<OpenShell>()
  return {
    take(shell) {
      if (open.countOf(shell.serviceId) >= MAX_SHELLS_OF_SERVICE)
        throw new AppError('conflict', `This service has ${MAX_SHELLS_OF_SERVICE} shells open, which is the most. Close one of them.`)
      if (open.total() >= MAX_SHELLS)
        throw new AppError('unavailable', `This server has ${MAX_SHELLS} shells open, which is the most. Try again when some are closed.`)
      const giveBack = open.take(shell.serviceId)
      shells.add(shell)
      return () => {
        giveBack()
        shells.delete(shell)
      }
    },
    countOf: (workspaceId) => [...shells].filter((shell) => shell.workspaceId === workspaceId).length,
    end(shellId, reason) {
      for (const shell of shells) if (shell.shellId === shellId) shell.end(reason)
    },
    has: (shellId) => [...shells].some((shell) => shell.shellId === shellId),
    endAll(serviceId, reason) {
      for (const shell of [...shells]) if (shell.serviceId === serviceId) shell.end(reason)
    },
  }
}
