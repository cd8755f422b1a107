import { chmod, mkdir, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { extractIsolated } from '../../../platform/archives/isolated.ts'
import { DEFAULT_EXTRACT_LIMITS } from '../../../platform/archives/rules.ts'
import { type Providing, type StoredTool, storedTool } from '../providing.ts'
import { download } from '../registry/download.ts'
import { fileInIndex, pipWay } from '../registry/python-index.ts'
import { uvPin } from './pin.ts'

const MIB = 1024 * 1024
/** uv 0.13 has 18 MB packed, 39 MB unpacked. */
const MOST_PACKED_BYTES = 48 * MIB
const MOST_UNPACKED_BYTES = 128 * MIB
const LIMITS = { ...DEFAULT_EXTRACT_LIMITS, maxBytes: MOST_UNPACKED_BYTES, maxFiles: 1000 }

/** The uv that this version of cpd goes with. @throws Unfetched where it is not to be had; AppError; the signal's reason when aborted. */
export async function provideUv(providing: Providing): Promise<StoredTool> {
  const { version } = uvPin
  const make = (into: string, signal: AbortSignal) => fetchUv(into, { ...providing, signal })
  const wanted = { mostBytes: MOST_PACKED_BYTES + MOST_UNPACKED_BYTES, make }
  return storedTool(await providing.store.ensure(`uv-${version}`, wanted, providing.signal), version)
}

async function fetchUv(into: string, fetching: Providing): Promise<void> {
  const { env, signal, log } = fetching
  const { file, sha256 } = uvPin.wheels[process.arch === 'arm64' ? 'arm64' : 'x64']
  const url = await fileInIndex('uv', file, fetching)
  log(`==> Fetching uv ${uvPin.version} from ${url.host}`)
  const [wheel, unpacked] = [join(dirname(into), 'wheel'), join(dirname(into), 'unpacked')]
  const integrity = `sha256-${Buffer.from(sha256, 'hex').toString('base64')}`
  await download(url, { into: wheel, integrity, mostBytes: MOST_PACKED_BYTES, way: pipWay(env), signal, log })
  await extractIsolated({ path: wheel, format: 'zip', into: unpacked, limits: LIMITS, signal })
  await mkdir(into, { mode: 0o755 })
  await rename(join(unpacked, `uv-${uvPin.version}.data/scripts`), join(into, 'bin'))
  for (const name of ['uv', 'uvx']) await chmod(join(into, 'bin', name), 0o755)
}
