import { Argument, type Command } from 'commander'
import { completionScript, type Shell, shells } from '../completion/scripts.ts'
import { placesOf } from '../completion/tree.ts'
import type { Start } from '../session/context.ts'

export function addCompletionCommand(program: Command, start: Start): void {
  program
    .command('completion')
    .description('Print a script that completes commands in your shell')
    .addArgument(new Argument('<shell>', 'Your shell').choices(shells))
    .action((shell: Shell, _: unknown, command: Command) => {
      start(command).io.stdout.write(completionScript(shell, program.name(), placesOf(program)))
    })
}
