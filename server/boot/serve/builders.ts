import type { Builder } from '../../builders/port.ts'
import { openTreeBuilder, type TreeBuilderOptions } from '../../builders/tree/builder.ts'
import type { StackKind } from '../../platform/stack.ts'
import { createReleaseFolders } from '../../runtime/artifacts/release-folders.ts'
import type { Context } from './context.ts'

interface BuilderParts extends Pick<Context, 'paths' | 'config' | 'engine'>, Pick<TreeBuilderOptions, 'executable'> {}

export type Building = Pick<Context, 'artifacts' | 'builder'>

const openers: Readonly<Record<StackKind, (parts: BuilderParts) => Promise<Building>>> = { host: openOnMachine }

/** The builder of releases that this engine can run. */
export const openBuilder = (parts: BuilderParts): Promise<Building> => openers[parts.engine.capabilities.stacks[0]](parts)

async function openOnMachine({ engine, ...parts }: BuilderParts): Promise<{ artifacts: Context['artifacts']; builder: Builder }> {
  const artifacts = createReleaseFolders(parts)
  const { ownNetworks: hasOwnNetworks } = engine.capabilities
  return { artifacts, builder: await openTreeBuilder({ ...parts, hasOwnNetworks, keep: artifacts.keep }) }
}
