import { tableOf } from '../../../platform/db/table.ts'
import type { SealedFile, SecretFileEntry, SecretRows } from '../../services/env-store.ts'

interface FileRow {
  groupId: string
  name: string
  sealed: string
}

const files = tableOf<FileRow>('env_group_files', { groupId: 'group_id', name: 'name', sealed: 'content_sealed' })

const purpose = ({ groupId, name }: Pick<FileRow, 'groupId' | 'name'>): string => `env group file ${groupId} ${name}`

/** Secret files of a group, by name. */
export const sealedGroupFiles = ({ db, sealer }: SecretRows, groupId: string): SealedFile[] =>
  files.all(db, 'WHERE group_id = $groupId ORDER BY name', { groupId }).map((row) => ({
    name: row.name,
    sealed: row.sealed,
    open: () => sealer.open(row.sealed, purpose(row)),
  }))

/** Adds or changes a secret file of a group. One that has this content already is left as it is sealed. */
export function setGroupFile(rows: SecretRows, groupId: string, { name, content }: SecretFileEntry): void {
  const held = sealedGroupFiles(rows, groupId).find((file) => file.name === name)
  if (held?.open() === content) return
  const sealed = rows.sealer.seal(content, purpose({ groupId, name }))
  files.insert(rows.db, { groupId, name, sealed }, 'ON CONFLICT DO UPDATE SET content_sealed = excluded.content_sealed')
}

/** Removes a secret file; false when the group has none of this name. */
export const deleteGroupFile = ({ db }: Pick<SecretRows, 'db'>, groupId: string, name: string): boolean =>
  files.remove(db, { groupId, name }) > 0
