import { stackFolders } from '../../apps/deploys/release-store.ts'
import { namedUid } from '../../apps/services/user-ids.ts'
import type { Builder } from '../../builders/port.ts'
import { openTreeBuilder, type TreeBuilderOptions } from '../../builders/tree/builder.ts'
import type { StackKind } from '../../platform/stack.ts'
import { createReleaseFolders } from '../../runtime/artifacts/release-folders.ts'
import { whileThereIsRoom } from '../../runtime/space/room.ts'
import { straysIn } from '../../runtime/workloads/strays.ts'
import type { Context } from './context.ts'

const need = { what: 'a toolchain', advice: 'Its operator has to free some. Deploy again when that is done.' }

interface BuilderParts extends Pick<Context, 'db' | 'paths' | 'config' | 'engine'>, Pick<TreeBuilderOptions, 'executable'> {}

export type Building = Pick<Context, 'artifacts' | 'builder'>

const openers: Readonly<Record<StackKind, (parts: BuilderParts) => Promise<Building>>> = { host: openOnMachine }

/** The builder of releases that this engine can run. */
export const openBuilder = (parts: BuilderParts): Promise<Building> => openers[parts.engine.capabilities.stacks[0]](parts)

async function openOnMachine({ engine, ...parts }: BuilderParts): Promise<{ artifacts: Context['artifacts']; builder: Builder }> {
  const artifacts = createReleaseFolders(parts)
  const { ownNetworks: hasOwnNetworks } = engine.capabilities
  const builder = await openTreeBuilder({
    ...parts,
    hasOwnNetworks,
    // While there are strays, what they stand on is in no row.
    foldersInUse: () => (straysIn(parts.db).length === 0 ? stackFolders(parts.db) : undefined),
    fetchUid: () => namedUid(parts.db, 'toolchains_uid'),
    whileThereIsRoom: (act) => whileThereIsRoom(parts, need, act),
    keep: artifacts.keep,
  })
  return { artifacts, builder }
}
