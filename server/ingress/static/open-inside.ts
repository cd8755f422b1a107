import { constants } from 'node:fs'
import { type FileHandle, open, readlink, realpath } from 'node:fs/promises'

const absentCodes = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG', 'EACCES', 'ENXIO'])

/**
 * Opens what lies at `path` for reading, or nothing when it is absent or its links lead out of `root`: these are followed before anything is
 * opened, as opening alone makes some devices and pipes act. The kernel is asked where the opened file really is, so nothing can be
 * swapped between the check and the use.
 */
export async function openInside(root: string, path: string): Promise<FileHandle | undefined> {
  const [realRoot, realFile] = await Promise.all([realpath(root), ifThere(realpath(path))])
  if (realFile === undefined || (realFile !== realRoot && !realFile.startsWith(`${realRoot}/`))) return undefined
  // A named pipe in a release would hold a thread for ever without O_NONBLOCK.
  const handle = await ifThere(open(realFile, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW))
  if (handle === undefined) return undefined
  let isSame = false
  try {
    isSame = (await readlink(`/proc/self/fd/${handle.fd}`)) === realFile
  } finally {
    if (!isSame) await handle.close()
  }
  return isSame ? handle : undefined
}

async function ifThere<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found
  } catch (error) {
    if (error instanceof Error && 'code' in error && absentCodes.has(String(error.code))) return undefined
    throw error
  }
}
