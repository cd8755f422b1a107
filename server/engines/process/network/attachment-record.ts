import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface AttachmentRecord {
  address: string
  networkId?: string
}

const FILE = 'network.json'

/** Written before anything of it is in the kernel. */
export function writeAttachment(recordDir: string, attachment: AttachmentRecord): void {
  writeFileSync(join(recordDir, FILE), JSON.stringify(attachment), { mode: 0o600 })
}

/** Undefined for a workload in the host's own network, and for one whose record was cut off: that one never started. */
export function readAttachment(recordDir: string): AttachmentRecord | undefined {
  const path = join(recordDir, FILE)
  if (!existsSync(path)) return undefined
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return undefined
  }
}
