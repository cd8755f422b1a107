import { unlessAborted } from '../../platform/work/unless-aborted.ts'
import { forgetWorkload, noteOver } from './ends.ts'
import type { Keeping } from './keeping.ts'
import type { StoredWorkload } from './store.ts'

/** Every step can be repeated, so a stop that was cut off starts over. @throws the signal's reason when aborted. */
export async function stopWorkload(keeping: Keeping, workload: StoredWorkload): Promise<void> {
  const { engine, signal } = keeping
  const owner = keeping.ownerOf(workload)
  await owner.drain?.(workload, signal)
  // What is being stopped ends without us, and the next control plane sees to the rest.
  await unlessAborted(engine.stop(workload.id, { graceMs: owner.graceMs(workload) }), signal)
  const seen = await engine.inspect(workload.id)
  signal.throwIfAborted()
  await noteOver(keeping, workload, seen?.status === 'exited' ? seen : undefined)
  await forgetWorkload(keeping, workload)
}
