import type { AppContext } from '../../context.ts'
import { SNAPSHOT_PREFIX } from '../upgrade-rules.ts'
import type { StoredUpgrade } from '../upgrade-store.ts'

export const undoneKey = ({ snapshot }: Pick<StoredUpgrade, 'snapshot'>): string => `${snapshot}.undone`

/** Removes what upgrades have kept of a volume, but for one. Repeatable. */
export async function forgetSnapshots(
  { engine }: Pick<AppContext, 'engine'>,
  volumeId: string,
  { except }: { except?: string },
): Promise<void> {
  for (const key of await engine.volumes.listSnapshots(volumeId))
    if (key.startsWith(SNAPSHOT_PREFIX) && key !== except) await engine.volumes.removeSnapshot(volumeId, key)
}
