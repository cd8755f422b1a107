import { AppError } from '../../../shared/error.ts'
import { openPty, type Pty } from '../../process/pty.ts'
import type { OpenTerminal, TerminalSpec } from '../port.ts'
import { begin, forget, type LifecycleContext, stop } from './lifecycle.ts'
import { isAlive } from './proc.ts'
import type { Supervised } from './supervisor.ts'

/** What hangs up by itself has this long for it. */
const HANG_UP_GRACE_MS = 500

/**
 * A terminal is recorded and supervised like a task, but its command has a terminal for its standard streams, and may be put into the
 * namespaces of a running instance, with a control group of its own.
 */
export async function openTerminal(context: LifecycleContext, spec: TerminalSpec): Promise<OpenTerminal> {
  if (context.supervisor.get(spec.taskId) !== undefined) {
    throw new AppError('conflict', `Terminal ${spec.taskId} is known already; open one with another id`)
  }
  const joinedPid = spec.joins === undefined ? undefined : await leaderOf(context, spec.joins)
  const pty = openPty({ ...spec, owner: context.host.isRoot ? spec.sandbox : undefined })
  try {
    const attached = { descriptor: pty.descriptor, joinedPid }
    const one = begin(context, { id: spec.taskId, kind: 'terminal', isJoined: joinedPid !== undefined }, { ...spec, attached })
    await one.launched
    return opened(context, one, pty)
  } catch (error) {
    pty.close()
    throw error
  }
}

async function leaderOf({ supervisor, records }: LifecycleContext, instanceId: string): Promise<number> {
  const one = supervisor.get(instanceId)
  await one?.launched.catch(() => {})
  const leader = one === undefined || one.end !== undefined ? undefined : records.processOf(one.workload)
  if (leader !== undefined && isAlive(leader)) return leader.pid
  throw new AppError('not_found', `Instance ${instanceId} does not run; choose one that does, or open a terminal of its own`)
}

function opened(context: LifecycleContext, one: Supervised, pty: Pty): OpenTerminal {
  const ended = seeToTheEnd(context, one, pty)
  return {
    ended,
    write: pty.write,
    pause: pty.pause,
    resume: pty.resume,
    resize: pty.resize,
    close: async () => {
      pty.close()
      await Promise.race([ended, Bun.sleep(HANG_UP_GRACE_MS)])
      await stop(context, one.workload.id, 0)
      await ended
    },
  }
}

async function seeToTheEnd(
  context: LifecycleContext,
  one: Supervised,
  pty: Pty,
): Promise<{ exitCode: number | null; signal: string | null }> {
  const { exitCode, signal } = await one.ended
  await pty.settled()
  pty.close()
  await forget(context, one)
  return { exitCode, signal }
}
