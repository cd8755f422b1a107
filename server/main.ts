import { Command } from 'commander'
import { AppError } from '../shared/error.ts'
import { configCommand } from './commands/config.ts'
import { doctorCommand } from './commands/doctor.ts'
import { ingressCommand } from './commands/ingress.ts'
import { installCommand, uninstallCommand } from './commands/install.ts'
import { redTeamCommand } from './commands/red-team.ts'
import { version } from './commands/self.ts'
import { serveCommand } from './commands/serve.ts'
import { stopCommand } from './commands/stop.ts'
import { upgradeCommand } from './commands/upgrade.ts'
import { upgradeCheckCommand } from './commands/upgrade-check.ts'
import { reachLoopbackDirectly } from './config.ts'
import { isDiskFull } from './files/disk-full.ts'

const program = new Command('cpd')
  .description('Deploys and runs your services on this machine')
  .version(version)
  .addCommand(serveCommand())
  .addCommand(stopCommand())
  .addCommand(upgradeCommand())
  .addCommand(installCommand())
  .addCommand(uninstallCommand())
  .addCommand(configCommand())
  .addCommand(doctorCommand())
  .addCommand(ingressCommand(), { hidden: true })
  .addCommand(redTeamCommand(), { hidden: true })
  .addCommand(upgradeCheckCommand(), { hidden: true })

reachLoopbackDirectly()
program.parseAsync().catch((error: unknown) => {
  process.stderr.write(`cpd: ${reasonOf(error)}\n`)
  process.exit(1)
})

/** What we know ourselves is one line for the operator; anything else keeps its stack. */
function reasonOf(error: unknown): string {
  if (isDiskFull(error)) return 'The disk of the data directory is full. Make room on it, and start again.'
  if (error instanceof AppError) return error.message
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
