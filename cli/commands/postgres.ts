import type { Command } from 'commander'
import type { Start } from '../session/context.ts'
import { addPostgresCredentialCommands } from './postgres-credentials.ts'
import { addPostgresInsightCommands } from './postgres-insight.ts'

export function addPostgresCommands(program: Command, start: Start): void {
  const postgres = program.command('postgres').alias('pg').description('Postgres databases')
  addPostgresCredentialCommands(postgres, start)
  addPostgresInsightCommands(postgres, start)
}
