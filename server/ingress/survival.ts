import { FloodGuard } from './http2/flood-guard.ts'

/** More than this is no chance: whoever supervises the process starts a sound one. */
const BEARABLE = { burst: 20, perSecond: 1 }

/**
 * What is thrown where nobody catches it (a timer, a listener, a promise, a handle that is collected) must not end what others depend
 * on: it is told, and the process goes on. Returns whether that is still right.
 */
export function createSurvival(log: (line: string) => void, now: () => number = () => performance.now()): (error: unknown) => boolean {
  const guard = new FloodGuard(BEARABLE, now())
  return (error) => {
    const goesOn = guard.bears(now())
    log(`Nobody caught this, ${goesOn ? 'and we go on' : 'and there is too much of it to go on'}: ${textOf(error)}`)
    return goesOn
  }
}

/** Ends the process with 1 only where errors come in numbers. */
export function surviveUncaught(log: (line: string) => void): void {
  const survives = createSurvival(log)
  const told = (error: unknown) => {
    if (!survives(error)) process.exit(1)
  }
  process.on('uncaughtException', told)
  process.on('unhandledRejection', told)
}

function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
