import { setTimeout as sleep } from 'node:timers/promises'
import { createIngressClient } from '../control/client.ts'
import { otherSocketPaths, ownSocketPaths } from '../control/names.ts'

export interface HeldFeed {
  controlSocketPath: string
  signal: AbortSignal
  onHeld(serviceIds: readonly string[]): void
}

const FIRST_RETRY_MS = 100
const LONGEST_RETRY_MS = 1000

/** Asks every ingress process by long polls for which services requests wait. Returns after `signal` has aborted, when nothing is under way. */
export async function followHeld({ controlSocketPath, signal, onHeld }: HeldFeed): Promise<void> {
  const followed = new Map<string, Promise<void>>()

  async function follow(path: string): Promise<void> {
    const client = createIngressClient(path)
    let known: number | undefined
    for (let failures = 0; !signal.aborted && ownSocketPaths(controlSocketPath).includes(path); followNew()) {
      const before = known
      const changes = await client.heldServices(known, signal).catch(() => undefined)
      known = changes?.revision
      failures = changes === undefined ? failures + 1 : 0
      if (changes !== undefined && changes.serviceIds.length > 0) onHeld(changes.serviceIds)
      // One that is about to end keeps nobody waiting, and one that has ended answers nobody.
      else if (changes === undefined || known === before) await pause(Math.min(FIRST_RETRY_MS * 2 ** failures, LONGEST_RETRY_MS), signal)
    }
  }

  function followNew(): void {
    for (const path of ownSocketPaths(controlSocketPath)) {
      if (followed.has(path) || signal.aborted) continue
      const done = follow(path).finally(() => followed.delete(path))
      followed.set(path, done)
    }
  }

  const hasNewest = (): boolean => {
    const others = otherSocketPaths(controlSocketPath)
    return [...followed.keys()].some((path) => !others.includes(path))
  }

  while (!signal.aborted) {
    followNew()
    if (hasNewest()) await Promise.race([...followed.values()])
    else await pause(LONGEST_RETRY_MS / 4, signal)
  }
  await Promise.all(followed.values())
}

const pause = (ms: number, signal: AbortSignal): Promise<void> => sleep(ms, undefined, { signal }).catch(() => undefined)
