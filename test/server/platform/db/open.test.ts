import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { migrateDatabase } from '../../../../server/platform/db/migrate.ts'
import { openDatabase } from '../../../../server/platform/db/open.ts'
import { findSealed } from '../../../../server/platform/secrets/sealed-row.ts'
import { makeDataDir } from '../../../support/data-dir.ts'

const data = makeDataDir()
afterAll(data.remove)

test('a file that is no database is named, with what to do', () => {
  const path = join(data.dir, 'damaged.db')
  writeFileSync(path, 'x'.repeat(8192))
  expect(() => openDatabase(path)).toThrow(/damaged\.db is damaged .* restore a backup/)
})

test('a new database holds nothing that a master key is needed for', () => {
  const db = openDatabase(join(data.dir, 'new.db'))
  migrateDatabase(db)
  expect(findSealed(db)).toBeUndefined()
  db.close()
})
