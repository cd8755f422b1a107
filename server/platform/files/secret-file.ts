import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { AppError } from '../../../shared/error.ts'

const SECRET_FILE_MODE = 0o600
const FOR_OTHERS = 0o077

/** Writes a file that only we may read, whole or not at all: a crash leaves the old one. */
export function writeSecretFile(path: string, content: string): void {
  const temporary = `${path}.new`
  // One that is there already would keep its mode, or lead elsewhere.
  rmSync(temporary, { force: true })
  const descriptor = openSync(temporary, 'wx', SECRET_FILE_MODE)
  try {
    writeFileSync(descriptor, content)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
  renameSync(temporary, path)
}

/** Reads a secret file. @throws AppError unavailable when others may read it too. */
export function readSecretFile(path: string): string {
  if ((statSync(path).mode & FOR_OTHERS) !== 0) {
    throw new AppError('unavailable', `${path} can be read by others. Run chmod 600 on it and start again.`)
  }
  return readFileSync(path, 'utf8')
}
