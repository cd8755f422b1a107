import { type SizeUnit, sizeOfFolder } from './folder-size.ts'

const MEASURE_TIMEOUT_MS = 5000
const AT_ONCE = 8

/** What each of these takes, asked of a few at a time; those are left out of which it cannot be told. */
export async function measureEach(
  names: readonly string[],
  measure: (name: string) => Promise<number | undefined>,
): Promise<Map<string, number>> {
  const sizes = new Map<string, number>()
  const waiting = [...names]
  const measureNext = async () => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      const held = await measure(name)
      if (held !== undefined) sizes.set(name, held)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, measureNext))
  return sizes
}

export const measureFolders = (folders: readonly string[], unit: SizeUnit, signal: AbortSignal): Promise<Map<string, number>> =>
  measureEach(folders, (folder) => sizeOfFolder(folder, unit, { signal, timeoutMs: MEASURE_TIMEOUT_MS }))
