import { AppError } from '../../../shared/error.ts'
import { openPty, type Pty } from '../../platform/process/pty.ts'
import type { End } from '../port/end.ts'
import type { OpenTerminal } from '../port/port.ts'
import { namespacesIn } from './host.ts'
import { holdNamespaces, type NamespaceHandles } from './kernel/namespace-handles.ts'
import { isAlive } from './kernel/proc.ts'
import { begin, forget, type LifecycleContext, stop } from './lifecycle.ts'
import type { ProcessTerminalSpec } from './spec.ts'
import type { Supervised } from './supervisor.ts'

const HANG_UP_GRACE_MS = 500

/** A terminal is supervised like any other workload, with a control group of its own even in the namespaces of an instance. */
export async function openTerminal(context: LifecycleContext, spec: ProcessTerminalSpec): Promise<OpenTerminal> {
  if (context.supervisor.get(spec.terminalId) !== undefined) {
    throw new AppError('conflict', `Terminal ${spec.terminalId} is known already; open one with another id`)
  }
  const joined = spec.joins === undefined ? undefined : await namespacesOf(context, spec.joins)
  try {
    return await openIn(context, spec, joined)
  } finally {
    joined?.release()
  }
}

async function openIn(context: LifecycleContext, spec: ProcessTerminalSpec, joined: NamespaceHandles | undefined): Promise<OpenTerminal> {
  const pty = openPty({ ...spec, owner: context.host.isRoot ? spec.sandbox : undefined })
  try {
    const attached = { descriptor: pty.descriptor, joined }
    const one = begin(context, { id: spec.terminalId, kind: 'terminal', isJoined: joined !== undefined }, { ...spec, attached })
    await one.launched
    return terminalOf(context, one, pty)
  } catch (error) {
    pty.close()
    throw error
  }
}

async function namespacesOf({ supervisor, records, host }: LifecycleContext, instanceId: string): Promise<NamespaceHandles> {
  const one = supervisor.get(instanceId)
  await one?.launched.catch(() => {})
  const leader = one === undefined || one.end !== undefined ? undefined : records.processOf(one.workload)
  if (leader !== undefined && isAlive(leader)) return holdNamespaces(namespacesIn(host), leader)
  throw new AppError('not_found', `Instance ${instanceId} does not run; choose one that does, or open a terminal of its own`)
}

function terminalOf(context: LifecycleContext, one: Supervised, pty: Pty): OpenTerminal {
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

async function seeToTheEnd(context: LifecycleContext, one: Supervised, pty: Pty): Promise<End> {
  const { exitCode, signal, why } = await one.ended
  await pty.settled()
  pty.close()
  await forget(context, one)
  return { exitCode, signal, ...(why && { why }) }
}
