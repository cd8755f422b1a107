import { AppError } from '../../../../shared/error.ts'
import { type Providing, type StoredTool, storedTool, versionsHeld } from '../providing.ts'
import { Unfetched } from '../registry/download.ts'
import { npmSettings } from '../registry/way.ts'
import type { Tool, Toolchains } from '../tool.ts'
import { chooseVersion, exactVersion, fits, nearestVersions, parseWish, type VersionWish } from './choose-version.ts'
import { fetchPackage, MOST_PACKAGE_BYTES } from './fetch-package.ts'
import type { ManagerPin } from './manager-pin.ts'
import { nodeVersions } from './node-list.ts'
import { npmVersionFor } from './npm-of-node.ts'
import { provideManager, storedManager } from './provide-manager.ts'

export interface NodeNeed {
  wish?: { source: string; wanted: string }
  manager?: ManagerPin
}

/**
 * The toolchains with the Node.js and npm that a build needs: the machine's own where that will do, else those of the store, which are
 * fetched where they are missing. @throws AppError `bad_request` saying what is not to be had and why; the signal's reason when aborted.
 */
export async function provideNode(found: Toolchains, need: NodeNeed, providing: Providing): Promise<Toolchains> {
  const equipped = await withNode(found, need, providing)
  const { manager } = need
  if (manager === undefined) return equipped
  if (manager.name !== 'npm') return { ...equipped, manager: await provideManager(manager, undefined, providing) }
  const npm = await provideManager(manager, equipped.tools.npm, providing)
  return { ...equipped, manager: npm, tools: { ...equipped.tools, npm } }
}

async function withNode(found: Toolchains, need: NodeNeed, providing: Providing): Promise<Toolchains> {
  const wish = wishOf(need)
  const { node: own, npm: ownNpm } = found.tools
  try {
    if (own !== undefined && serves(own, wish)) {
      const npm = ownNpm ?? (await storedManager({ name: 'npm', version: npmVersionFor(own.version ?? '') }, providing))
      return { ...found, tools: { ...found.tools, npm } }
    }
    const node = await storedNode(wish, providing)
    const npm = await storedManager({ name: 'npm', version: npmVersionFor(node.version) }, providing)
    return { ...found, tools: { ...found.tools, node, npm } }
  } catch (error) {
    throw error instanceof Unfetched ? refusal(found, need, { problem: error, providing }) : error
  }
}

function wishOf({ wish }: NodeNeed): VersionWish {
  const parsed = wish === undefined ? { kind: 'default' as const } : parseWish(wish.wanted)
  if (parsed !== undefined) return parsed
  const problem = `${wish?.source} asks for Node.js ${wish?.wanted}, which is no version`
  throw new AppError('bad_request', `${problem}: write one such as 22, 22.11.0, ^22.1 or lts/*, and deploy again`)
}

const serves = ({ version }: Tool, wish: VersionWish): boolean =>
  version === undefined ? wish.kind === 'default' : fits(wish, version, Date.now())

async function storedNode(wish: VersionWish, providing: Providing): Promise<StoredTool> {
  const exact = exactVersion(wish)
  const held = exact && (await providing.store.find(`node-${exact}`))
  if (held) return storedTool(held, exact)
  try {
    return await newestNode(wish, providing)
  } catch (error) {
    if (!(error instanceof Unfetched)) throw error
    const version = chooseVersion(wish, await versionsHeld(providing.store, 'node'), Date.now())
    const folder = version && (await providing.store.find(`node-${version}`))
    if (!version || !folder) throw error
    providing.log(`Node.js could not be looked for (${error.message}), so it is one that was fetched before.`)
    return storedTool(folder, version)
  }
}

async function newestNode(wish: VersionWish, providing: Providing): Promise<StoredTool> {
  const { store } = providing
  const hasOne = (list: object) => chooseVersion(wish, Object.keys(list), Date.now()) !== undefined
  const list = await nodeVersions(store.dir, providing, hasOne)
  const version = chooseVersion(wish, Object.keys(list), Date.now())
  const dist = version === undefined ? undefined : list[version]
  if (version === undefined || dist === undefined) {
    const nearest = nearestVersions(wish, Object.keys(list)).join(' and ')
    throw new Unfetched(`there is none; the nearest is ${nearest}`)
  }
  const make = async (into: string, signal: AbortSignal) => {
    providing.log(`==> Fetching Node.js ${version} from ${new URL(dist.tarball).host}`)
    await fetchPackage(into, { ...providing, dist, signal })
  }
  return storedTool(await store.ensure(`node-${version}`, { mostBytes: MOST_PACKAGE_BYTES, make }, providing.signal), version)
}

interface Refused {
  problem: Unfetched
  providing: Providing
}

function refusal({ tools }: Toolchains, { wish }: NodeNeed, { problem, providing }: Refused): AppError {
  const asked = wish === undefined ? 'This app needs Node.js' : `This app needs Node.js ${wish.wanted} (${wish.source})`
  const { registry } = npmSettings(providing.env)
  const has = tools.node === undefined ? 'which is not on this server' : `and this server has ${tools.node.version ?? 'another one'}`
  const advice =
    'name another version, ask the operator of this server to install it or to let the server reach the registry, or set runtime to bun (--runtime bun) to run it on Bun'
  const message = `${asked}, ${has}. It could not be had from ${new URL(registry).host}: ${problem.message}. To go on, ${advice}`
  return new AppError('bad_request', message, { cause: problem })
}
