import { carryOut, type TryResult } from './attempt.ts'
import { fileTries } from './files.ts'
import { networkTries } from './network.ts'
import { privilegeTries } from './privileges.ts'
import { processTries } from './processes.ts'
import type { Targets } from './targets.ts'

/** Tries to break out of where it runs in every way it knows, one after the other, and tells what came of it. */
export async function tryEverything(targets: Targets): Promise<TryResult[]> {
  const results: TryResult[] = []
  const tries = [...fileTries(targets), ...processTries(targets), ...networkTries(targets), ...privilegeTries(targets)]
  for (const one of tries) results.push(await carryOut(one))
  return results
}
