import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { replaceFileSync } from '../../../platform/files/replace-file.ts'

const FILE = 'epoch'

export function epochOf(stateDir: string): string {
  const path = join(stateDir, FILE)
  if (existsSync(path)) return readFileSync(path, 'utf8')
  mkdirSync(stateDir, { recursive: true, mode: 0o700 })
  const epoch = crypto.randomUUID()
  replaceFileSync(path, epoch)
  return epoch
}
