import { type Command, Option } from 'commander'
import { type PlanName, planNames } from '../../shared/plan.ts'
import { usageError } from '../base/error.ts'
import { present } from '../base/present.ts'
import { resolveService } from '../finding/service.ts'
import { awaitJob } from '../jobs/follow.ts'
import type { Context, Start } from '../session/context.ts'
import { commandLine } from '../shell/command-line.ts'
import { runOnTerminal, terminalQuery } from '../shell/on-terminal.ts'
import { clean } from '../terminal/text.ts'

interface RunOptions {
  plan?: PlanName
  detach?: boolean
  interactive?: boolean
  tty?: boolean
}

const details = `
One word after -- is a shell command line (-- 'echo $HOME | wc -c'), several are a program and its arguments.
It runs in the live release, with its variables, secret files and private network, and goes on when the server restarts.
The exit code is that of the command. Ctrl-C cancels it; a second one leaves it running.
With -it the command asks and is answered on this terminal, and ends with it: nothing of it is in the logs.`

export function addRunCommand(program: Command, start: Start): void {
  program
    .command('run')
    .description('Run a command in the live release of a service, and show what it writes')
    .argument('<service>', 'Name or id')
    .argument('<command...>', 'What to run, after --')
    .addOption(new Option('--plan <plan>', 'What it may use (default: the plan of the service)').choices(planNames))
    .option('-d, --detach', 'Print its id, and do not wait for its end')
    .option('-i, --interactive', 'Run it on this terminal, so that it can ask')
    .option('-t, --tty', 'The same; -it is understood as elsewhere')
    .addHelpText('after', details)
    .action((name: string, words: string[], options: RunOptions, command: Command) => runJob(start(command), { name, words, ...options }))
}

async function runJob(
  context: Context,
  { name, words, plan, detach, interactive, tty }: RunOptions & { name: string; words: string[] },
): Promise<void> {
  const service = await resolveService(context, name)
  if (interactive || tty) {
    if (detach) throw usageError('A command on this terminal cannot be left alone: give either -it or --detach.')
    const query = { startCommand: commandLine(words), ...present({ planId: plan }), ...terminalQuery(context.io) }
    return await runOnTerminal(context, 'openJobTerminal', { params: { serviceId: service.id }, query })
  }
  const body = { startCommand: commandLine(words), ...present({ planId: plan }) }
  const job = await context.client.call('createJob', { params: { serviceId: service.id }, body })
  if (!detach) return await awaitJob(context, service, job)
  if (context.isJson) return context.printJson(job)
  context.print(job.id)
  context.note(clean`To see what it writes: cpctl jobs logs ${job.id} --service ${service.name} --follow`)
}
