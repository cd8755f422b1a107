import type { Database } from 'bun:sqlite'
import { newId } from '../../platform/id.ts'
import { readSeeded, type Seeded } from '../memberships/seeded.ts'
import { insertMember, insertWorkspace } from '../memberships/store.ts'
import { hashPassword } from '../passwords/password.ts'
import type { IdentitySettings } from '../settings.ts'
import { newToken } from '../tokens/token.ts'
import { insertUser } from './store.ts'

export interface FirstStart {
  email: string
  /** The password that was made because none was configured: to be printed once, it is stored only as a hash. */
  generatedPassword: string | undefined
}

interface SeedDeps {
  db: Database
  config: Pick<IdentitySettings, 'CP_ADMIN_EMAIL' | 'CP_ADMIN_PASSWORD'>
  now(): number
  onSeeded?(seeded: Seeded & { email: string }): void
}

const GENERATED_PASSWORD_BYTES = 15

/** Makes the default workspace and its administrator, all or nothing; undefined when an earlier start has. */
export async function seedFirstStart({ db, config, now, onSeeded }: SeedDeps): Promise<FirstStart | undefined> {
  if (readSeeded(db) !== undefined) return undefined
  const generatedPassword = config.CP_ADMIN_PASSWORD === undefined ? newToken(GENERATED_PASSWORD_BYTES) : undefined
  const passwordHash = await hashPassword(config.CP_ADMIN_PASSWORD ?? generatedPassword ?? '')
  const email = config.CP_ADMIN_EMAIL
  const createdAt = now()
  const seeded: Seeded = { workspaceId: newId('workspace', createdAt), userId: newId('user', createdAt) }
  db.transaction(() => {
    insertWorkspace(db, { id: seeded.workspaceId, name: 'Default', email, createdAt })
    insertUser(db, { id: seeded.userId, email, name: 'Administrator', passwordHash, createdAt })
    insertMember(db, { ...seeded, role: 'admin', createdAt })
    db.query("INSERT INTO meta (key, value) VALUES ('seeded', ?)").run(JSON.stringify(seeded))
    onSeeded?.({ ...seeded, email })
  }).immediate()
  return { email, generatedPassword }
}
