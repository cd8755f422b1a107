import type { Command } from 'commander'
import { operationOf } from '../../shared/api.ts'
import { type ShellQuery, terminalNamePattern } from '../../shared/shell.ts'
import type { Context, Start } from '../context.ts'
import { CliError, RemoteExit } from '../error.ts'
import { pathOf } from '../request.ts'
import { resolveService } from '../resolve.ts'
import { commandLine } from '../shell/command-line.ts'
import { OUTPUT_WINDOW_BYTES, runShell } from '../shell/session.ts'

interface ShellOptions {
  instance?: string
}

const details = `
Without a command: bash, or sh where there is none. One word after -- is a shell command line, several are a program and its arguments.
Everything that was started in the shell ends with it. Enter ~ . leaves a shell that hangs; Enter ~ ~ types a tilde.
From a pipe, what comes through it is typed, and its end is typed as Ctrl-D. The exit code is that of the command.`

export function addShellCommand(program: Command, start: Start): void {
  program
    .command('shell')
    .description('Open a shell beside a running instance of a service')
    .argument('<service>', 'Name or id')
    .argument('[command...]', 'What to run in place of a shell, after --')
    .option('--instance <id>', 'Instance whose processes, files and network it sees (default: the newest, else one of its own)')
    .addHelpText('after', details)
    .action((name: string, words: string[], options: ShellOptions, command: Command) => shell(start(command), { name, words, ...options }))
}

async function shell(context: Context, { name, words, instance }: ShellOptions & { name: string; words: string[] }): Promise<void> {
  const { client, io } = context
  const service = await resolveService(context, name)
  const { TERM: term = '' } = io.env
  const query: ShellQuery = {
    ...io.terminal.size(),
    ...(instance !== undefined && { instance }),
    ...(words.length > 0 && { command: commandLine(words) }),
    ...(new RegExp(terminalNamePattern).test(term) && { term }),
    outputWindow: OUTPUT_WINDOW_BYTES,
  }
  const input = { params: { serviceId: service.id }, query }
  const target = await client.target()
  const outcome = await runShell({ target, path: pathOf(operationOf('openShell'), input), terminal: io.terminal, signal: io.interrupted })
  if (outcome.kind === 'exited') throw new RemoteExit(outcome)
  if (outcome.kind === 'left') throw new CliError('unavailable', 'You left the shell. What ran in it is being ended.')
  await tellRefusal(context, input, outcome.status)
}

/** A refused WebSocket tells a status and no reason: the same request without one is told it. */
async function tellRefusal(
  { client }: Context,
  input: Parameters<typeof client.call<'openShell'>>[1],
  status: number | undefined,
): Promise<never> {
  try {
    await client.call('openShell', input)
  } catch (error) {
    if (!(error instanceof CliError && error.code === 'bad_request')) throw error
  }
  throw new CliError('unavailable', `The server refuses to open a WebSocket${status === undefined ? '' : ` (${status})`}.`, {
    hint: 'If a proxy stands before it, let WebSockets pass through it.',
  })
}
