import { Command } from 'commander'
import { AppError } from '../../shared/error.ts'
import { isDiskFull } from '../platform/files/disk-full.ts'
import { version } from '../platform/process/self.ts'
import { ingressCommand } from './commands/ingress.ts'
import { reachLoopbackDirectly } from './settings/environment.ts'

/** The ingress and what packs and unpacks are processes of their own, which must not load all that the control plane needs. */
const isIngress = process.argv[2] === 'ingress'
const isExtraction = process.argv[2] === 'extract'
const isUnpacking = process.argv[2] === 'unpack'
const isPacking = process.argv[2] === 'pack'

async function run(): Promise<void> {
  const program = new Command('cpd')
    .description('Deploys and runs your services on this machine')
    .version(version)
    .addCommand(ingressCommand(), { hidden: true })
  if (isExtraction) program.addCommand((await import('./commands/extract.ts')).extractCommand(), { hidden: true })
  else if (isUnpacking) program.addCommand((await import('./commands/unpack.ts')).unpackCommand(), { hidden: true })
  else if (isPacking) program.addCommand((await import('./commands/pack.ts')).packCommand(), { hidden: true })
  else if (!isIngress) {
    const { controlCommands, hiddenCommands } = await import('./commands/control.ts')
    for (const command of controlCommands()) program.addCommand(command)
    for (const command of hiddenCommands()) program.addCommand(command, { hidden: true })
  }
  await program.parseAsync()
}

reachLoopbackDirectly()
run().catch((error: unknown) => {
  process.stderr.write(`cpd: ${reasonOf(error)}\n`)
  process.exit(1)
})

function reasonOf(error: unknown): string {
  if (isDiskFull(error)) return 'The disk of the data directory is full. Make room on it, and start again.'
  if (error instanceof AppError) return error.message
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
