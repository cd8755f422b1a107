import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { replaceFileSync } from '../../../platform/files/replace-file.ts'
import type { LinkedOwner } from './networks.ts'

const LINKS_FILE = 'links.json'

/** An engine that starts reads them again, and changes nothing for the instances it adopts until it is told anew. */
export function saveLinks(directory: string, owners: readonly LinkedOwner[]): void {
  replaceFileSync(join(directory, LINKS_FILE), JSON.stringify(owners), { isDurable: false })
}

/** Earlier versions knew services only, and named the field so. */
type KeptLink = Omit<LinkedOwner, 'ownerId'> & { ownerId?: string; serviceId?: string }

export function readLinks(directory: string): LinkedOwner[] {
  try {
    const kept: KeptLink[] = JSON.parse(readFileSync(join(directory, LINKS_FILE), 'utf8'))
    return kept.map(({ serviceId = '', ownerId = serviceId, ...rest }) => ({ ownerId, ...rest }))
  } catch {
    // There is none yet, or a loss of power has emptied it, after which nothing runs whose links it could tell.
    return []
  }
}
