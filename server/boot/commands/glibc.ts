import { runProcess } from '../../platform/process/spawn.ts'
import { isOlder } from '../../runtime/programs/own.ts'

/** The newest symbols of glibc that the programs inside refer to; a test looks for newer ones. */
export const neededGlibc = '2.34'

/** The version of this machine's glibc, such as 2.36; undefined where it has another C library, or does not tell. */
export async function glibcHere(): Promise<string | undefined> {
  const said = await runProcess(['getconf', 'GNU_LIBC_VERSION'], { timeoutMs: 5000 }).catch(() => undefined)
  return /^glibc (\d+\.\d+)/.exec(said?.stdout ?? '')?.[1]
}

/** Why programs that are inside do not start here, as the end of a sentence; undefined where they do. */
export function glibcProblem(version: string | undefined): string | undefined {
  if (version === undefined) return `it needs glibc ${neededGlibc}, and this machine does not tell of one`
  return isOlder(version, neededGlibc) ? `it needs glibc ${neededGlibc}, and this machine has ${version}` : undefined
}
