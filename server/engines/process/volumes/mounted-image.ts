/**
 * A view of an image's file system in a mount namespace of its own, beside the workload that may have it mounted. A process of the namespace
 * waits for the end of our pipe and then lets writes go on; with it the namespace and the mount in it are gone. So whether we close the pipe
 * or are killed, nothing stays mounted, and no app stands still.
 */
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '../../../../shared/error.ts'
import { type SpawnedProcess, spawnProcess } from '../../../platform/process/spawn.ts'
import { systemEnv } from '../../../platform/process/system-tools.ts'
import { runTool } from './tools.ts'

export interface MountedImage {
  run(argv: readonly string[]): Promise<void>
  freeze(): Promise<void>
}

/** @param source the image, when nothing uses it, else its loop device: two devices on one file would not know of each other. */
export async function withMountedImage<T>(
  { source, mountPoint }: { source: string; mountPoint: string },
  use: (mounted: MountedImage) => Promise<T>,
): Promise<T> {
  const wait = ['/bin/sh', '-c', HOLDER, 'cpd-mount-holder', mountPoint]
  const holder = spawnProcess(['unshare', '--mount', '--propagation', 'private', ...wait], {
    env: systemEnv,
    stdin: 'pipe',
    stdout: 'pipe',
    detached: true,
  })
  try {
    await untilApart(holder)
    const run = async (argv: readonly string[]) => void (await runTool(['nsenter', '--target', String(holder.pid), '--mount', ...argv]))
    const options = `noinit_itable,nosuid,nodev${source.startsWith('/dev/') ? '' : ',loop'}`
    await run(['mount', '--no-mtab', '-t', 'ext4', '-o', options, source, mountPoint])
    return await use({ run, freeze: () => freezeBy(holder) })
  } finally {
    await holder.stdin?.end()
    await holder.exited
  }
}

/** The script ($1: mount point) freezes by itself when told to, so no freeze can come after the thaw, which always comes. */
const HOLDER = `
trap '' PIPE
if read -r word; then
  if words=$(fsfreeze --freeze "$1" 2>&1); then echo frozen; else echo "$words"; fi
fi
read -r word
fsfreeze --unfreeze "$1" 2>/dev/null
`

async function freezeBy(holder: SpawnedProcess): Promise<void> {
  holder.stdin?.write('freeze\n')
  await holder.stdin?.flush()
  const reader = holder.stdout?.getReader()
  const decoder = new TextDecoder()
  let words = ''
  while (reader !== undefined && !words.endsWith('\n')) {
    const { done, value } = await reader.read()
    if (done) break
    words += decoder.decode(value, { stream: true })
  }
  if (words !== 'frozen\n') throw new AppError('unavailable', `The disk's file system could not be held still: ${words.trim()}`)
}

const APART_DEADLINE_MS = 5000

/** Before it has left our namespace for good, a mount in its would be one in the machine's; then it becomes the program that waits. */
async function untilApart({ pid }: SpawnedProcess): Promise<void> {
  for (const deadline = Date.now() + APART_DEADLINE_MS; Date.now() < deadline; await sleep(1)) {
    if (programOf(pid) === 'sh') return
  }
  throw new AppError('unavailable', 'No mount namespace could be made to copy the disk in.')
}

function programOf(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim()
  } catch {
    return undefined
  }
}
