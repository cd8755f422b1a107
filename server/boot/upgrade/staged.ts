import { chmodSync, linkSync, renameSync, rmSync } from 'node:fs'
import { copyFile, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { AppError } from '../../../shared/error.ts'
import { syncFolder } from '../../platform/files/replace-file.ts'
import { previousPathOf } from './rules.ts'

const EXECUTABLE_MODE = 0o755

/** Copies a new executable to where it waits; it is on disk when this returns. @throws AppError `unavailable` when it cannot be written. */
export async function stage(file: string, staged: string): Promise<void> {
  try {
    rmSync(staged, { force: true })
    await copyFile(file, staged)
    chmodSync(staged, EXECUTABLE_MODE)
    const handle = await open(staged, 'r')
    await handle.sync()
    await handle.close()
    syncFolder(dirname(staged))
  } catch (cause) {
    rmSync(staged, { force: true })
    throw new AppError('unavailable', `${file} cannot be copied to ${staged}: ${cause instanceof Error ? cause.message : cause}`, { cause })
  }
}

/**
 * Puts the staged executable at its path. There is an executable at every moment, and the one that was there stays as `.previous`.
 * Repeatable up to the moment at which the staged one is gone.
 */
export function install(staged: string, executable: string): void {
  const previous = previousPathOf(executable)
  const incoming = `${previous}.new`
  rmSync(incoming, { force: true })
  linkSync(executable, incoming)
  renameSync(incoming, previous)
  // A rename between two names of the same file leaves both.
  rmSync(incoming, { force: true })
  renameSync(staged, executable)
  syncFolder(dirname(executable))
}

export const discard = (staged: string): void => rmSync(staged, { force: true })
