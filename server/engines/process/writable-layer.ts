/**
 * What a workload writes beside its code goes into a layer of its own over the release, which stays as it is (overlayfs). The release belongs
 * to root and shall look as if it belonged to the service, so that the layer lets the service change it: an id-mapped mount does that
 * (mount_setattr(2)), by the ids of a user namespace that exists for nothing else. A layer lies in the folder of its workload's record, so it
 * goes with the record, and belongs to the service's user, so that quotas count it.
 */
import { closeSync, mkdirSync, openSync, readlinkSync, writeFileSync } from 'node:fs'
import { chmod, chown } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf } from '../../../shared/error.ts'
import { removeTree } from '../../platform/files/tree/remove.ts'
import { runProcess, spawnProcess } from '../../platform/process/spawn.ts'
import { systemEnv } from '../../platform/process/system-tools.ts'
import type { UserIds } from './closed-dirs.ts'
import { type LayerMount, mountSteps } from './launch-steps.ts'
import { isTrueWithin } from './records/processes.ts'
import { OWN_ARCHITECTURE } from './step-program/numbers.ts'
import { renderSteps } from './step-program/steps.ts'

export interface WritableLayers {
  prepare(recordDir: string, folder: string, user: UserIds): Promise<LayerMount>
  close(): void
}

const LAYER = 'layer'
const UPPER_MODE = 0o750
const MAPPED_DEADLINE_MS = 10_000
/** A service that comes has a user of its own for ever, and user namespaces are few: those used longest ago go. */
const MOST_NAMESPACES = 200
/** Whoever starts at this moment still opens it by its number. */
const LAST_USE_MS = 10 * 60_000

/** Removes what a workload has written, before its record goes: it may be as large as its plan's disk. */
export const removeLayer = (recordDir: string): Promise<void> => removeTree(join(recordDir, LAYER))

export const layerOf = (recordDir: string): string => join(recordDir, LAYER)

export async function openWritableLayers(
  stepProgram: string,
  directory: string,
  bounds: Bounds = { mostNamespaces: MOST_NAMESPACES, lastUseMs: LAST_USE_MS },
): Promise<WritableLayers | { reason: string }> {
  const layers = layersWith(new Map(), bounds)
  const dir = join(directory, 'layer-probe')
  await removeTree(dir)
  try {
    const [folder, list] = [join(dir, 'folder'), join(dir, 'steps')]
    mkdirSync(folder, { recursive: true, mode: UPPER_MODE })
    const layer = await layers.prepare(dir, folder, PROBE_USER)
    writeFileSync(list, renderSteps({ steps: mountSteps(layer) }, OWN_ARCHITECTURE), { mode: 0o600 })
    const { exitCode, stderr } = await runProcess([stepProgram, list, '/bin/true'], { env: systemEnv })
    if (exitCode !== 0) return refused(layers, stderr.trim())
    return layers
  } catch (error) {
    return refused(layers, messageOf(error))
  } finally {
    await removeTree(dir)
  }
}

/** No service has it, and nothing is left of it. */
const PROBE_USER = { uid: 65_533, gid: 65_533 }

function refused(layers: WritableLayers, problem: string): { reason: string } {
  layers.close()
  return { reason: `${problem}; writable layers need Linux 5.19 or newer, and the data directory on ext4, xfs or btrfs` }
}

interface Bounds {
  mostNamespaces: number
  lastUseMs: number
}

function layersWith(descriptors: Map<number, Promise<number>>, { mostNamespaces, lastUseMs }: Bounds): WritableLayers {
  const namespaceFor = (user: UserIds): Promise<number> => {
    const known = descriptors.get(user.uid)
    const namespace = known ?? mappingNamespace(user)
    // Behind all others: the first is the one used longest ago.
    descriptors.delete(user.uid)
    descriptors.set(user.uid, namespace)
    if (known === undefined) namespace.catch(() => descriptors.delete(user.uid))
    forgetOldest()
    return namespace
  }
  const forgetOldest = () => {
    const [oldest] = descriptors
    if (oldest === undefined || descriptors.size <= mostNamespaces) return
    const [uid, opened] = oldest
    descriptors.delete(uid)
    setTimeout(() => void opened.then(closeSync, () => {}), lastUseMs).unref()
  }
  return {
    prepare: async (recordDir, folder, user) => {
      const dir = join(recordDir, LAYER)
      const [upper, work] = [join(dir, 'upper'), join(dir, 'work')]
      mkdirSync(upper, { recursive: true, mode: 0o700 })
      mkdirSync(work, { recursive: true, mode: 0o700 })
      await chown(upper, user.uid, user.gid)
      await chmod(upper, UPPER_MODE)
      const descriptor = await namespaceFor(user)
      return { folder, upper, work, userNamespace: `/proc/${process.pid}/fd/${descriptor}` }
    },
    close: () => {
      for (const opened of descriptors.values()) void opened.then(closeSync, () => {})
      descriptors.clear()
    },
  }
}

/** A user namespace in which root's files are the user's. It lasts as long as its descriptor is open. */
async function mappingNamespace({ uid, gid }: UserIds): Promise<number> {
  const holder = spawnProcess(['unshare', '--user', 'sleep', '60'], { env: systemEnv })
  try {
    const own = readlinkSync('/proc/self/ns/user')
    const isThere = await isTrueWithin(() => readlinkSync(`/proc/${holder.pid}/ns/user`) !== own, MAPPED_DEADLINE_MS)
    if (!isThere) throw new Error('No user namespace could be made')
    writeFileSync(`/proc/${holder.pid}/uid_map`, `0 ${uid} 1`)
    writeFileSync(`/proc/${holder.pid}/gid_map`, `${gid} ${gid} 1`)
    return openSync(`/proc/${holder.pid}/ns/user`, 'r')
  } finally {
    holder.kill('SIGKILL')
    await holder.exited
  }
}
