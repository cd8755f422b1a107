import { type Command, Option } from 'commander'
import { type PlanName, planNames } from '../../shared/plan.ts'
import type { Context, Start } from '../context.ts'
import { awaitJob } from '../jobs/follow.ts'
import { resolveService } from '../resolve.ts'
import { present } from '../service-settings.ts'
import { commandLine } from '../shell/command-line.ts'
import { clean } from '../terminal-text.ts'

interface RunOptions {
  plan?: PlanName
  detach?: boolean
}

const details = `
One word after -- is a shell command line (-- 'echo $HOME | wc -c'), several are a program and its arguments.
It runs in the live release, with its variables, secret files and private network, and goes on when the server restarts.
The exit code is that of the command. Ctrl-C cancels it; a second one leaves it running.`

export function addRunCommand(program: Command, start: Start): void {
  program
    .command('run')
    .description('Run a command in the live release of a service, and show what it writes')
    .argument('<service>', 'Name or id')
    .argument('<command...>', 'What to run, after --')
    .addOption(new Option('--plan <plan>', 'What it may use (default: the plan of the service)').choices(planNames))
    .option('-d, --detach', 'Print its id, and do not wait for its end')
    .addHelpText('after', details)
    .action((name: string, words: string[], options: RunOptions, command: Command) => runJob(start(command), { name, words, ...options }))
}

async function runJob(context: Context, { name, words, plan, detach }: RunOptions & { name: string; words: string[] }): Promise<void> {
  const service = await resolveService(context, name)
  const body = { startCommand: commandLine(words), ...present({ planId: plan }) }
  const job = await context.client.call('createJob', { params: { serviceId: service.id }, body })
  if (!detach) return await awaitJob(context, service, job)
  if (context.isJson) return context.printJson(job)
  context.print(job.id)
  context.note(clean`To see what it writes: cpctl jobs logs ${job.id} --service ${service.name} --follow`)
}
