import { join } from 'node:path'
import { getDatabaseVersion } from 'bun-sqlite-migrations'
import { Command } from 'commander'
import { migrateDatabase } from '../../platform/db/migrate.ts'
import { openDatabase } from '../../platform/db/open.ts'
import { version } from '../../platform/process/self.ts'
import { openLogDatabase } from '../../telemetry/logs/database.ts'
import type { CheckReport } from '../upgrade/candidate.ts'

/** Run by an older version before it makes way: opens copies of its databases as `cpd serve` would, and says what it is. */
export function upgradeCheckCommand(): Command {
  return new Command('upgrade-check')
    .description('Try this version on copies of the databases (run by `cpd upgrade`)')
    .argument('<folder>', 'Folder with control.db and logs.db, which are migrated')
    .action((folder: string) => {
      const control = openDatabase(join(folder, 'control.db'))
      migrateDatabase(control)
      const logs = openLogDatabase(join(folder, 'logs.db'))
      const report: CheckReport = {
        program: 'cpd',
        version,
        schema: { control: getDatabaseVersion(control), logs: getDatabaseVersion(logs) },
      }
      logs.close()
      control.close()
      process.stdout.write(`${JSON.stringify(report)}\n`)
    })
}
