import { Type } from '@sinclair/typebox'
import { AppError } from '../../../../shared/error.ts'
import { chooseGo, compareGo, newestGo } from '../go-version.ts'
import { type Providing, type StoredTool, storedTool, versionsHeld } from '../providing.ts'
import { fetchText, Unfetched } from '../registry/download.ts'
import { fromSources, goSources, goWay } from '../registry/go-proxies.ts'
import { keptList } from '../registry/kept-list.ts'
import type { Tool, Toolchains } from '../tool.ts'
import { fetchGo, GO_MODULE_LIST, goVersionIn, MOST_GO_BYTES } from './fetch-go.ts'

export interface GoNeed {
  /** What go.mod asks for at the least. */
  least?: { source: string; version: string }
  /** The very one to fetch, where go.mod names a toolchain. */
  exact?: string
}

/**
 * The toolchains with the Go that a build needs: the machine's own where that is new enough, else one of the store, which is fetched where it
 * is missing. @throws AppError `bad_request` saying what is not to be had and why; the signal's reason when aborted.
 */
export async function provideGo(found: Toolchains, need: GoNeed, providing: Providing): Promise<Toolchains> {
  const own = found.tools.go
  if (own !== undefined && serves(own, need)) return found
  try {
    return { ...found, tools: { ...found.tools, go: await storedGo(need, providing) } }
  } catch (error) {
    throw error instanceof Unfetched ? refusal(own, need, error) : error
  }
}

/** One that was built from source may tell no version, and finds out by itself what it lacks. */
const serves = ({ version }: Tool, { least }: GoNeed): boolean =>
  version === undefined || least === undefined || compareGo(version, least.version) >= 0

async function storedGo({ least, exact }: GoNeed, providing: Providing): Promise<StoredTool> {
  const { store, signal } = providing
  const version = exact ?? (await newestAtLeast(least?.version, providing))
  const make = (into: string, stop: AbortSignal) => fetchGo(into, version, { ...providing, signal: stop })
  return storedTool(await store.ensure(`go-${version}`, { mostBytes: MOST_GO_BYTES, make }, signal), version)
}

async function newestAtLeast(least: string | undefined, providing: Providing): Promise<string> {
  try {
    const versions = await goVersions(providing, (kept) => chooseGo(least, kept) !== undefined)
    const version = chooseGo(least, versions)
    if (version !== undefined) return version
    throw new Unfetched(`the newest is ${newestGo(versions) ?? 'not known'}`)
  } catch (error) {
    const held = chooseGo(least, await versionsHeld(providing.store, 'go'))
    if (!(error instanceof Unfetched) || held === undefined) throw error
    providing.log(`Go could not be looked for (${error.message}), so it is one that was fetched before.`)
    return held
  }
}

const goVersions = ({ store, env, signal }: Providing, isEnough: (kept: string[]) => boolean): Promise<string[]> =>
  keptList({
    dir: store.dir,
    name: 'go-toolchains',
    source: goSources(env)
      .map(({ base }) => base.replace(/\/\/[^@/]*@/, '//'))
      .join(),
    schema: Type.Array(Type.String()),
    ask: () =>
      fromSources(env, async (base) => {
        const list = await fetchText(new URL(`${base}/${GO_MODULE_LIST}`), { way: goWay(env), signal, mostBytes: MAX_LIST_BYTES })
        return list.split('\n').flatMap((line) => goVersionIn(line.trim()) ?? [])
      }),
    isEnough,
  })

const MAX_LIST_BYTES = 2 * 1024 * 1024

function refusal(own: Tool | undefined, { least, exact }: GoNeed, problem: Unfetched): AppError {
  const asked = least === undefined ? 'This app needs Go' : `This app needs Go ${exact ?? least.version} (${least.source})`
  const has = own === undefined ? 'which is not on this server' : `and this server has ${own.version}`
  const advice =
    'name another version in go.mod, or ask the operator of this server to install it or to let the server reach a module proxy (GOPROXY)'
  return new AppError('bad_request', `${asked}, ${has}. It could not be had: ${problem.message}. To go on, ${advice}`, { cause: problem })
}
