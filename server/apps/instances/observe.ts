import { nextRestartDelayMs } from '../../engines/backoff.ts'
import type { ExitedState } from '../../engines/port/port.ts'
import { servicePathsOf } from '../../platform/paths.ts'
import { describeError } from '../../platform/server-log.ts'
import { appendOutput } from '../../telemetry/logs/append-output.ts'
import type { AppContext } from '../context.ts'
import { recordEvent } from '../events/store.ts'
import { outputPathOf } from '../launch/launch.ts'
import type { StoredService } from '../services/store.ts'
import { type InstanceExit, instanceById, type StoredInstance, updateInstance } from '../workloads/instance-store.ts'
import { describeExit } from './plan.ts'

const KEPT_EXITS = 10

/** Writes down that an instance died: it is pending again, after a pause that grows with its failures. */
export function recordExit(
  context: AppContext,
  service: StoredService,
  { instance: seen, exit }: { instance: StoredInstance; exit: InstanceExit },
): void {
  const now = context.now()
  // As it is now: asking the engine has taken its time.
  const instance = instanceById(context.db, seen.id) ?? seen
  const reason = context.exitReasons.take(instance.id)
  const exits = [...instance.exits, reason === undefined ? exit : { ...exit, reason }].slice(-KEPT_EXITS)
  const delayMs = nextRestartDelayMs(exits, now)
  const { id, restarts } = instance
  context.db.transaction(() => {
    updateInstance(context.db, id, { phase: 'pending', address: null, exits, restarts: restarts + 1, startAt: now + delayMs })
    const details = {
      instanceId: id,
      deployId: instance.deployId,
      reason: describeExit({ exits }),
      exitCode: exit.exitCode,
      signal: exit.signal,
    }
    recordEvent(context.db, { service, type: 'server_failed', details, now })
  })()
  tellExit(context, instance, `==> ${describeExit({ exits })}. Next start in ${(delayMs / 1000).toFixed(1)} s.\n`)
}

const KEEPER_KILLED = 'Its keeper, the process that watches it, was killed, and with it the instance'

function recordKilledKeeper(context: AppContext, service: StoredService, instance: StoredInstance): void {
  const { id: instanceId, deployId } = instance
  const details = { instanceId, deployId, reason: KEEPER_KILLED, exitCode: null, signal: null }
  recordEvent(context.db, { service, type: 'server_failed', details, now: context.now() })
  tellExit(context, instance, `==> ${KEEPER_KILLED}. It is started again.\n`)
}

/** For people only: a disk that is full must not keep the instance down. */
function tellExit(context: AppContext, { id, serviceId }: StoredInstance, text: string): void {
  try {
    appendOutput(outputPathOf(servicePathsOf(context.paths, serviceId), id), text)
  } catch (error) {
    context.log.error('exit not told in the output', { instanceId: id, ...describeError(error) })
  }
}

/** Writes down where an instance that has been started is reached. */
export async function noteAddress({ db, engine }: Pick<AppContext, 'db' | 'engine'>, instanceId: string): Promise<void> {
  const state = await engine.inspect(instanceId)
  if (state?.status === 'running') updateInstance(db, instanceId, { address: state.address })
}

/**
 * Compares what is written down of a running instance with what the engine sees, and writes down what differs.
 * Returns whether it runs.
 */
export async function observeInstance(context: AppContext, service: StoredService, instance: StoredInstance): Promise<boolean> {
  const state = await context.engine.inspect(instance.id)
  if (state?.status === 'running') {
    if (state.address !== instance.address) updateInstance(context.db, instance.id, { address: state.address })
    return true
  }
  if (state === undefined || endedUnseen(state)) {
    // Never started, or the whole machine was, or somebody killed what watches it: no fault of the app.
    context.db.transaction(() => {
      updateInstance(context.db, instance.id, { phase: 'pending', address: null, startAt: context.now() })
      if (state?.keeperWasKilled && instance.phase === 'serving') recordKilledKeeper(context, service, instance)
    })()
    await context.engine.remove(instance.id)
    return false
  }
  const { exitCode, signal, oomKilled } = state
  recordExit(context, service, { instance, exit: { at: context.now(), exitCode, signal, oomKilled } })
  await context.engine.remove(instance.id)
  return false
}

/** Nobody was there to see how it ended, not even its keeper, as after a loss of power. */
const endedUnseen = ({ exitCode, signal, oomKilled }: ExitedState): boolean => exitCode === null && signal === null && !oomKilled
