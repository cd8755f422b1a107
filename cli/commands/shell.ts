import type { Command } from 'commander'
import type { ShellQuery } from '../../shared/shell.ts'
import { resolveService } from '../finding/service.ts'
import type { Context, Start } from '../session/context.ts'
import { commandLine } from '../shell/command-line.ts'
import { runOnTerminal, terminalQuery } from '../shell/on-terminal.ts'

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
  const service = await resolveService(context, name)
  const query: ShellQuery = {
    ...terminalQuery(context.io),
    ...(instance !== undefined && { instance }),
    ...(words.length > 0 && { command: commandLine(words) }),
  }
  await runOnTerminal(context, 'openShell', { params: { serviceId: service.id }, query })
}
