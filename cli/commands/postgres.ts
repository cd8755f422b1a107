import type { Command } from 'commander'
import type { Start } from '../session/context.ts'
import { addPostgresBackupCommands } from './postgres-backups.ts'
import { addPostgresConnectCommands } from './postgres-connect.ts'
import { addPostgresCredentialCommands } from './postgres-credentials.ts'
import { addPostgresInsightCommands } from './postgres-insight.ts'
import { addPostgresLifecycleCommands } from './postgres-lifecycle.ts'
import { addPostgresSettingCommands } from './postgres-settings.ts'
import { addPostgresTransferCommands } from './postgres-transfers.ts'
import { addPostgresUpgradeCommand } from './postgres-upgrade.ts'

export function addPostgresCommands(program: Command, start: Start): void {
  const postgres = program.command('postgres').alias('pg').description('Postgres databases')
  addPostgresSettingCommands(postgres, start)
  addPostgresLifecycleCommands(postgres, start)
  addPostgresUpgradeCommand(postgres, start)
  addPostgresConnectCommands(postgres, start)
  addPostgresBackupCommands(postgres, start)
  addPostgresTransferCommands(postgres, start)
  addPostgresCredentialCommands(postgres, start)
  addPostgresInsightCommands(postgres, start)
}
