/** PostgreSQL's own tools, run by us outside of the database's sandbox, as a user who owns nothing else. */

import { type Command, type CommandOptions, type RunningCommand, startCommand } from '../../../platform/process/command.ts'
import { type OwnTool, toolCommand } from '../../../platform/process/own-user.ts'
import { SYSTEM_PATH } from '../../../platform/process/system-tools.ts'

export interface BackupSource {
  programs: string
  host: string
  port: number
  user: string
  password: string
  uid: number
}

export interface Tool extends OwnTool {
  env?: Record<string, string>
}

const toolEnv = { PATH: SYSTEM_PATH, LC_ALL: 'C', PGCONNECT_TIMEOUT: '10', HOME: '/nonexistent' }

export const connectionArgs = ({ host, port, user }: BackupSource): string[] => [
  ...['--host', host, '--port', String(port), '--username', user],
  '--no-password',
]

export const commandOf = (tool: Tool): Command => ({
  name: tool.name,
  argv: toolCommand(tool),
  // Whose it is can be seen by its environment, as by its arguments it works in a place of its own.
  env: { ...toolEnv, CPD_FOLDER: tool.folder, ...tool.env },
})

export const startTool = (tool: Tool, options?: CommandOptions): RunningCommand => startCommand(commandOf(tool), options)
