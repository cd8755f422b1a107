import type { Command } from 'commander'
import { auditCommand } from './audit.ts'
import { backupKeyCommand } from './backup-key.ts'
import { backupsCommand } from './backups.ts'
import { configCommand } from './config.ts'
import { doctorCommand } from './doctor.ts'
import { installCommand, uninstallCommand } from './install.ts'
import { redTeamCommand } from './red-team.ts'
import { serveCommand } from './serve.ts'
import { stopCommand } from './stop.ts'
import { straysCommand } from './strays.ts'
import { upgradeCommand } from './upgrade.ts'
import { upgradeCheckCommand } from './upgrade-check.ts'

export const controlCommands = (): Command[] => [
  serveCommand(),
  stopCommand(),
  upgradeCommand(),
  installCommand(),
  uninstallCommand(),
  configCommand(),
  doctorCommand(),
  straysCommand(),
  auditCommand(),
  backupKeyCommand(),
  backupsCommand(),
]

export const hiddenCommands = (): Command[] => [redTeamCommand(), upgradeCheckCommand()]
