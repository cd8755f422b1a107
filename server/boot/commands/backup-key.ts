import type { Command } from 'commander'
import { currentKey } from '../../apps/backups/repository/key.ts'
import { migrateDatabase } from '../../platform/db/migrate.ts'
import { openDatabase } from '../../platform/db/open.ts'
import { lockDataDir } from '../../platform/files/lock.ts'
import { pathsOf } from '../../platform/paths.ts'
import { openSealer } from '../../platform/secrets/seal.ts'
import { findSealed } from '../../platform/secrets/sealed-row.ts'
import { requireDataDir } from './data-dir.ts'
import { commandWithSettings, configOf } from './settings.ts'

/** What opens the backups of all databases, for where nothing else is left of a server. */
export function backupKeyCommand(): Command {
  const command = commandWithSettings('backup-key').description(
    'Print the key of backups of databases, of a stopped server: whoever has it can read them',
  )
  return command.action(async () => {
    const { CP_DATA_DIR, CP_MASTER_KEY_FILE } = configOf(command)
    const paths = pathsOf(CP_DATA_DIR, CP_MASTER_KEY_FILE)
    requireDataDir(paths)
    const lock = lockDataDir(paths.lock, paths.data)
    const db = openDatabase(paths.controlDb)
    migrateDatabase(db)
    const sealer = openSealer(paths.masterKey, findSealed(db))
    const { identity, recipient } = await currentKey({ db, sealer, now: Date.now })
    db.close()
    lock.release()
    process.stdout.write(`# public key: ${recipient}\n${identity}\n`)
  })
}
