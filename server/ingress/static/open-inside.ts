import { constants } from 'node:fs'
import { type FileHandle, open, readlink, realpath } from 'node:fs/promises'

const absentCodes = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG', 'EACCES', 'ENXIO'])

/**
 * Opens what lies at `path` for reading, or nothing when it is absent or its links lead out of `root`.
 * The kernel is asked where the opened file really is, so nothing can be swapped between the check and the use.
 */
export async function openInside(root: string, path: string): Promise<FileHandle | undefined> {
  const handle = await openIfThere(path)
  if (handle === undefined) return undefined
  let isInside = false
  try {
    const [realRoot, realFile] = await Promise.all([realpath(root), readlink(`/proc/self/fd/${handle.fd}`)])
    isInside = realFile === realRoot || realFile.startsWith(`${realRoot}/`)
  } finally {
    if (!isInside) await handle.close()
  }
  return isInside ? handle : undefined
}

async function openIfThere(path: string): Promise<FileHandle | undefined> {
  try {
    // Without O_NONBLOCK a named pipe in a release would hold a thread for ever.
    return await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch (error) {
    if (error instanceof Error && 'code' in error && absentCodes.has(String(error.code))) return undefined
    throw error
  }
}
