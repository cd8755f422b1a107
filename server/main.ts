import { Command } from 'commander'
import { AppError } from '../shared/error.ts'
import { configCommand } from './commands/config.ts'
import { ingressCommand } from './commands/ingress.ts'
import { version } from './commands/self.ts'
import { serveCommand } from './commands/serve.ts'
import { stopCommand } from './commands/stop.ts'

const program = new Command('cpd')
  .description('Deploys and runs your services on this machine')
  .version(version)
  .addCommand(serveCommand())
  .addCommand(stopCommand())
  .addCommand(configCommand())
  .addCommand(ingressCommand(), { hidden: true })

program.parseAsync().catch((error: unknown) => {
  // What we know ourselves is one line for the operator; anything else keeps its stack.
  process.stderr.write(`cpd: ${error instanceof AppError ? error.message : error instanceof Error ? error.stack : String(error)}\n`)
  process.exit(1)
})
