import { join } from 'node:path'
import type { Paths } from '../../../platform/paths.ts'

/** Digits of the SHA-256 in a name: half of it, as nobody has anything to gain from two contents with one name in their own backups. */
export const DIGEST_LENGTH = 32
export const PACKED = '.zst.age'

/** Names are relative to the folder of their datastore: `wal/<segment>`, `bak-…/base.tar`. */
export interface ObjectName {
  name: string
  /** Beginning of the SHA-256 of what is packed, in hexadecimal digits. */
  digest: string
}

const objectPattern = /^((?:[\w-]+\/)*[\w.-]+?)\.([0-9a-f]{32})\.zst\.age$/

/** What a packed file is called: whoever stores the same content under a name twice has it once. */
export const fileNameOf = ({ name, digest }: ObjectName): string => `${name}.${digest}${PACKED}`

export function parseFileName(fileName: string): ObjectName | undefined {
  const [, name, digest] = objectPattern.exec(fileName) ?? []
  return name === undefined || digest === undefined || name.split('/').includes('..') ? undefined : { name, digest }
}

export interface SetFolders {
  root: string
  incoming: string
  /** What is being made; nothing in it outlives the process that makes it. */
  work: string
}

export const datastoresIn = ({ backups }: Pick<Paths, 'backups'>): string => join(backups, 'datastores')

export function setFoldersOf(paths: Pick<Paths, 'backups'>, datastoreId: string): SetFolders {
  const root = join(datastoresIn(paths), datastoreId)
  return { root, incoming: join(root, 'incoming'), work: join(root, 'work') }
}

export const materialFolder = ({ backups }: Pick<Paths, 'backups'>, name: string): string => join(backups, 'restores', name)
