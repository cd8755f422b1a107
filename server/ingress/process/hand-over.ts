import { AppError } from '../../../shared/error.ts'
import type { Activator } from '../activator/activator.ts'
import { createIngressClient } from '../control/client.ts'
import type { Successor } from '../control/protocol.ts'
import type { Control } from '../control/server.ts'
import type { Deadlines } from '../limits/deadlines.ts'
import type { IngressLimits } from '../limits/limits.ts'
import { within } from '../limits/within.ts'
import type { ClientListener } from '../serve/client-listener.ts'
import { describeInherited, type HeldListener, INHERITED_VARIABLE } from '../sockets/inherited.ts'
import type { Streams } from '../streams/streams.ts'
import type { Targets } from '../upstream/targets.ts'
import { startIngressProcess } from './start-process.ts'

/**
 * How an ingress ends. Either it is told to: it stops listening at once. Or it is succeeded: the next one is started by this one, with
 * its listening sockets, and both accept until the next one answers on the control socket. Then this one accepts no more and lives
 * on for the clients it has: each gets its next answer with the request to come back on a new connection, and nothing is cut that was
 * under way. Connections that stay silent are closed after a while, tunnels are told to come again (WebSockets with 1001), and what
 * is still being answered after the grace is given up. Sessions with databases last for that grace, idle ones too, and are then ended
 * with a word. Whoever of the two dies at whatever moment, the other one serves.
 */
export interface HandOver {
  readonly isSucceeded: boolean
  /** @throws AppError `unavailable` when the successor did not come to serve, `conflict` when this one is about to end itself. */
  to(successor: Successor): Promise<void>
  close(): Promise<void>
  closed: Promise<void>
}

export interface HandOverParts {
  controlSocketPath: string
  control: Control
  listeners: readonly ClientListener[]
  streams: Streams
  targets: Targets
  activator: Activator
  deadlines: Deadlines
  limits: IngressLimits
  log: (line: string) => void
  ended: () => unknown
}

export function createHandOver(parts: HandOverParts): HandOver {
  const { control, activator, log } = parts
  const ended = Promise.withResolvers<void>()
  let ending: Promise<void> | undefined
  let starting: Promise<void> | undefined
  let isSucceeded = false

  const close = () => {
    ending ??= end(parts).then(ended.resolve)
    return ending
  }
  const succeed = async (successor: Successor) => {
    try {
      await startSuccessor(parts, successor)
    } catch (error) {
      // The successor may have died with the name already taken.
      control.takeName()
      log(`Serving on: ${error instanceof Error ? error.message : error}`)
      throw error
    }
    isSucceeded = true
    activator.services.answerCallers()
    log('A successor serves; those who are connected here are served to their end')
    void retire(parts).then(close)
  }
  return {
    get isSucceeded() {
      return isSucceeded
    },
    async to(successor) {
      if (isSucceeded || ending !== undefined || starting !== undefined) {
        throw new AppError('conflict', 'This ingress is being succeeded already, or ends.')
      }
      starting = succeed(successor).finally(() => {
        starting = undefined
      })
      await starting
    },
    close,
    closed: ended.promise,
  }
}

async function startSuccessor({ listeners, streams, controlSocketPath }: HandOverParts, successor: Successor): Promise<void> {
  const held: HeldListener[] = [...listeners.map(({ address, descriptor }) => ({ address, descriptor })), ...streams.held()]
  const env = { ...successor.env, [INHERITED_VARIABLE]: describeInherited(held) }
  const client = createIngressClient(controlSocketPath)
  await startIngressProcess({ ...successor, env, client, inherit: held.map(({ descriptor }) => descriptor) })
}

async function retire(parts: HandOverParts): Promise<void> {
  const { listeners, streams, targets, limits } = parts
  const allGone = Promise.all([streams.retire(), ...listeners.map((listener) => listener.retire())])
  await within(limits.successionQuietMs, allGone)
  targets.closeAllTunnels()
  for (const listener of listeners) if (!listener.isPatient) listener.closeIdle()
  await within(limits.successionGraceMs, allGone)
  abandonAll(parts)
}

async function end(parts: HandOverParts): Promise<void> {
  const { control, listeners, streams, targets, activator, deadlines, limits } = parts
  activator.services.end()
  const options = { graceMs: limits.closeGraceMs, lingerMs: limits.lingerMs, giveUp: () => abandonAll(parts) }
  await Promise.all([control.stop(), within(limits.closeGraceMs, streams.retire()), ...listeners.map((listener) => listener.end(options))])
  streams.stop()
  targets.retireAll()
  deadlines.stop()
  await parts.ended()
}

function abandonAll({ targets, activator }: HandOverParts): void {
  targets.abandonAll()
  activator.abandonAll()
}
