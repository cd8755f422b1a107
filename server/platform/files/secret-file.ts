import { readFileSync, statSync } from 'node:fs'
import { AppError } from '../../../shared/error.ts'

const FOR_OTHERS = 0o077

/** Reads a secret file. @throws AppError unavailable when others may read it too. */
export function readSecretFile(path: string): string {
  if ((statSync(path).mode & FOR_OTHERS) !== 0) {
    throw new AppError('unavailable', `${path} can be read by others. Run chmod 600 on it and start again.`)
  }
  return readFileSync(path, 'utf8')
}
