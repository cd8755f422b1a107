import { Command, CommanderError } from 'commander'
import { version } from '../package.json'
import { inCommands } from './api/commands-for-routes.ts'
import { CliError, exitCodes, Interrupted, RemoteExit } from './base/error.ts'
import { addAccountCommands } from './commands/account.ts'
import { addAuditCommands } from './commands/audit.ts'
import { addCompletionCommand } from './commands/completion.ts'
import { addContextCommands } from './commands/context.ts'
import { addCronCommands } from './commands/cron.ts'
import { addDeployCommand } from './commands/deploy.ts'
import { addDeployHookCommands } from './commands/deploy-hooks.ts'
import { addDeploysCommands } from './commands/deploys.ts'
import { addDiskCommands } from './commands/disks.ts'
import { addDomainCommands } from './commands/domains.ts'
import { addEdgeRuleCommands } from './commands/edge-rules.ts'
import { addEnvCommands } from './commands/env.ts'
import { addEnvGroupCommands } from './commands/env-groups.ts'
import { addEnvironmentCommands } from './commands/environments.ts'
import { addEventsCommand } from './commands/events.ts'
import { addGitCommands } from './commands/git-remote.ts'
import { addInviteCommands } from './commands/invites.ts'
import { addJobCommands } from './commands/jobs.ts'
import { addKeyValueCommands } from './commands/key-value.ts'
import { addKeyCommands } from './commands/keys.ts'
import { addLinkCommand } from './commands/link.ts'
import { addLogsCommand } from './commands/logs.ts'
import { addMetricsCommand } from './commands/metrics.ts'
import { addNotificationCommands } from './commands/notifications.ts'
import { addOpenCommand } from './commands/open.ts'
import { addOwnAccountCommands } from './commands/own-account.ts'
import { addPostgresCommands } from './commands/postgres.ts'
import { addPreviewCommands } from './commands/previews.ts'
import { addProjectCommands } from './commands/projects.ts'
import { addRoleCommands } from './commands/roles.ts'
import { addRollbackCommand } from './commands/rollback.ts'
import { addRunCommand } from './commands/run.ts'
import { addSecretFileCommands } from './commands/secret-files.ts'
import { addServiceCommands } from './commands/services.ts'
import { addSessionCommands } from './commands/sessions.ts'
import { addShellCommand } from './commands/shell.ts'
import { addSourceHostCommands } from './commands/source-hosts.ts'
import { addStatusCommand } from './commands/status.ts'
import { addTeamCommands } from './commands/team.ts'
import { addTopCommand } from './commands/top.ts'
import { addWebhookCommands } from './commands/webhooks.ts'
import { addWorkspaceCommands } from './commands/workspaces.ts'
import { flagsBehind } from './flag-names.ts'
import { type GlobalOptions, starter } from './session/context.ts'
import type { Io } from './session/io.ts'
import { cleanJson, cleanLines } from './terminal/text.ts'

/** Runs one command line and tells its exit code; never throws. */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  const program = createProgram(io)
  try {
    await program.parseAsync([...argv], { from: 'user' })
    return exitCodes.ok
  } catch (error) {
    return report(error, io, argv.includes('--json') || program.opts<GlobalOptions>().json === true, argv)
  }
}

const groups = [
  addDeployCommand,
  addLogsCommand,
  addEventsCommand,
  addMetricsCommand,
  addTopCommand,
  addShellCommand,
  addRunCommand,
  addOpenCommand,
  addRollbackCommand,
  addServiceCommands,
  addProjectCommands,
  addEnvironmentCommands,
  addLinkCommand,
  addDeploysCommands,
  addDeployHookCommands,
  addPreviewCommands,
  addGitCommands,
  addJobCommands,
  addCronCommands,
  addEnvCommands,
  addEnvGroupCommands,
  addSecretFileCommands,
  addDiskCommands,
  addPostgresCommands,
  addKeyValueCommands,
  addDomainCommands,
  addEdgeRuleCommands,
  addWebhookCommands,
  addSourceHostCommands,
  addAccountCommands,
  addContextCommands,
  addNotificationCommands,
  addOwnAccountCommands,
  addSessionCommands,
  addWorkspaceCommands,
  addTeamCommands,
  addInviteCommands,
  addKeyCommands,
  addRoleCommands,
  addAuditCommands,
  addStatusCommand,
  addCompletionCommand,
]

export function createProgram(io: Io): Command {
  const program = new Command('cpctl')
    .description('Deploy and operate services on your own server.')
    .version(version, '-V, --version', 'Print the version')
    .option('--url <url>', 'Server to talk to (CPCTL_URL)')
    .option('--context <name>', 'Stored login to use (CPCTL_CONTEXT); cpctl context list shows them')
    .option('--workspace <name>', 'Workspace, by name or id (CPCTL_WORKSPACE)')
    .option('--json', 'Print the JSON of the API, for scripts')
    .helpOption('-h, --help', 'Print help')
    .helpCommand('help [command]', 'Print help for a command')
    .configureHelp({ showGlobalOptions: true })
    .showHelpAfterError('Run with --help to see what can be given.')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
      getOutHelpWidth: () => io.stdout.columns,
      getErrHelpWidth: () => io.stderr.columns,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
  const start = starter(io)
  for (const addTo of groups) addTo(program, start)
  return program
}

function report(error: unknown, io: Io, isJson: boolean, argv: readonly string[]): number {
  if (error instanceof Interrupted) return exitCodes.interrupted
  if (error instanceof RemoteExit) return error.exitCode
  // Commander has printed help, version or its own message already.
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage
  const known =
    error instanceof CliError ? error : new CliError('internal', `Unexpected failure: ${error instanceof Error ? error.message : error}`)
  if (isJson) io.stderr.write(`${cleanJson(known.body)}\n`)
  else io.stderr.write(explain(known, argv))
  return known.exitCode
}

function explain({ message, hint, body }: CliError, argv: readonly string[]): string {
  const details = (body.details ?? [])
    .filter((detail) => !message.includes(detail.message))
    .map(({ path, message: text }) => `  ${path === '' ? '' : `${path}: `}${inCommands(text)}`)
  const flags = flagsBehind(
    (body.details ?? []).map(({ path }) => path),
    argv,
  ).filter((flag) => !message.includes(flag))
  const given = flags.length === 0 ? [] : [`This was given with ${flags.join(', ')}.`]
  const request = body.code === 'internal' && body.id !== '' ? [`Request id for the operator: ${body.id}`] : []
  return `${cleanLines([`Error: ${inCommands(message)}`, ...details, ...given, ...(hint === undefined ? [] : [hint]), ...request].join('\n'))}\n`
}
