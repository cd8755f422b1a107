import { AppError } from '../../../../shared/error.ts'
import { type Providing, type StoredTool, storedTool } from '../providing.ts'
import { Unfetched } from '../registry/download.ts'
import { packageVersion } from '../registry/npm-registry.ts'
import { npmSettings } from '../registry/way.ts'
import type { Tool } from '../tool.ts'
import { fetchManager } from './fetch-manager.ts'
import { MOST_PACKAGE_BYTES } from './fetch-package.ts'
import { isModernYarn, type ManagerPin } from './manager-pin.ts'

/**
 * A package manager of the store, fetched where it is missing. What a hash was named for is kept under that hash, so that who names another one never
 * gets it. @throws Unfetched where it is not to be had; AppError `bad_request` where what comes has another hash; the signal's reason when aborted.
 */
export async function storedManager(pin: ManagerPin, providing: Providing): Promise<StoredTool> {
  const { name, version, hash } = pin
  const make = async (into: string, signal: AbortSignal) => {
    const dist = await packageVersion(isModernYarn(pin) ? '@yarnpkg/cli-dist' : name, version, { ...providing, signal })
    providing.log(`==> Fetching ${name} ${version} from ${new URL(dist.tarball).host}`)
    await fetchManager(into, { ...providing, dist, pin, signal })
    if (hash !== undefined) providing.log('    Its hash is the one that packageManager in package.json names.')
  }
  const entry = `${name}-${version}${hash === undefined ? '' : `+${hash.algorithm}.${hash.hex}`}`
  return storedTool(await providing.store.ensure(entry, { mostBytes: MOST_PACKAGE_BYTES, make }, providing.signal), version)
}

/** Does what `storedManager` does, for people; `own` is taken in place of one that is not to be had and that nobody named a hash for. */
export async function provideManager(pin: ManagerPin, own: Tool | undefined, providing: Providing): Promise<Tool> {
  try {
    return await storedManager(pin, providing)
  } catch (error) {
    if (!(error instanceof Unfetched)) throw error
    const asked = `packageManager in package.json names ${pin.name} ${pin.version}, which could not be had from ${new URL(npmSettings(providing.env).registry).host}`
    if (own === undefined || pin.hash !== undefined)
      throw new AppError('bad_request', `${asked}: ${error.message}. To go on, name another version`, { cause: error })
    providing.log(`Warning: ${asked} (${error.message}), so packages are installed by the ${pin.name} that is there.`)
    return own
  }
}
