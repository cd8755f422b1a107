import type { Command } from 'commander'
import { formatAddress } from '../address.ts'
import { type RunningServer, startServer } from '../serve.ts'
import { createServerLog, describeError } from '../server-log.ts'
import { selfCommand, version } from './self.ts'
import { commandWithSettings, configOf } from './settings.ts'

export function serveCommand(): Command {
  const command = commandWithSettings('serve').description('Run the control plane, with the ingress beside it')
  return command.action(async () => {
    const config = configOf(command)
    const log = createServerLog((line) => process.stderr.write(line))
    process.on('unhandledRejection', (error) => log.error('unhandled rejection', describeError(error)))
    const server = await startServer({ config, version, selfCommand, executable: process.execPath, log })
    announce(server, formatAddress(config.CP_INGRESS_HTTP))
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void stop(server))
  })
}

function announce(server: RunningServer, ingress: string): void {
  for (const { title, reason } of server.missingGuarantees) {
    process.stderr.write(`cpd: not guaranteed on this machine: ${title}${reason === undefined ? '' : ` (${reason})`}\n`)
  }
  if (server.firstStart !== undefined) {
    const { email, generatedPassword } = server.firstStart
    const password =
      generatedPassword === undefined ? 'the password of CP_ADMIN_PASSWORD' : `password ${generatedPassword} (shown only now)`
    process.stdout.write(`Administrator: ${email}, ${password}\n`)
  }
  process.stdout.write(`cpd ${version} ready: API ${server.publicUrl}, Swagger UI ${server.publicUrl}/docs, services at ${ingress}\n`)
}

async function stop(server: RunningServer): Promise<void> {
  await server.close()
  process.exit(0)
}
