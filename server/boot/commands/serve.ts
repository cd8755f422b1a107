import { accessSync, constants } from 'node:fs'
import { dirname } from 'node:path'
import { type Command, Option } from 'commander'
import { AppError } from '../../../shared/error.ts'
import { formatAddress } from '../../platform/network/address.ts'
import { pathsOf } from '../../platform/paths.ts'
import { oomScores, spareFromOom } from '../../platform/process/oom-score.ts'
import { keepSecretsInside } from '../../platform/process/secrecy.ts'
import { isCompiled, selfCommand, version } from '../../platform/process/self.ts'
import { surviveErrors } from '../../platform/process/survive.ts'
import { createServerLog, type ServerLog } from '../../platform/server-log.ts'
import { type RunningServer, startServer } from '../serve/serve.ts'
import { serveCommands } from '../serve-socket/server.ts'
import type { Config } from '../settings/config.ts'
import { ownArguments, ownEnvironment } from '../settings/environment.ts'
import { TRIAL_FLAG, upgradeInPlace } from '../upgrade/guardian.ts'
import { readJournal } from '../upgrade/journal.ts'
import { endWithGuardian } from '../upgrade/trial-process.ts'
import { commandWithSettings, configOf } from './settings.ts'
import { summaryOf } from './strays-text.ts'

export function serveCommand(): Command {
  const trial = new Option(TRIAL_FLAG, 'Run as the child of an older version that is being upgraded').hideHelp()
  const command = commandWithSettings('serve').description('Run the control plane, with the ingress beside it').addOption(trial)
  return command.action(async () => {
    const isOnTrial = command.opts<{ trial?: true }>().trial === true
    if (isOnTrial) endWithGuardian()
    const config = configOf(command)
    const log = createServerLog((line) => process.stderr.write(line))
    surviveErrors(log)
    spareFromOom(oomScores.controlPlane)
    keepSecretsInside()
    const server = await startServer({ config, version, selfCommand, executable: process.execPath, isOnTrial, log })
    announce(server, config)
    const commands = answerCommands({ server, config, isOnTrial, log })
    const stop = async () => {
      await Promise.all([commands.stop(), server.close()])
      process.exit(0)
    }
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void stop())
  })
}

interface Served {
  server: RunningServer
  config: Config
  isOnTrial: boolean
  log: ServerLog
}

function answerCommands({ server, config, isOnTrial, log }: Served): { stop(): Promise<void> } {
  const paths = pathsOf(config.CP_DATA_DIR, config.CP_MASTER_KEY_FILE)
  let isUpgrading = false
  const commands = serveCommands(paths.serveSocket, {
    status: () => ({ pid: process.pid, version, api: server.address, ...(isCompiled ? { executable: process.execPath } : {}) }),
    backUp: (folder) => server.backUp(folder),
    strays: () => server.strays(),
    endStrays: (ids) => server.endStrays(ids),
    describedBackups: (key) => server.describedBackups(key),
    adoptBackups: (request) => server.adoptBackups(request),
    upgrade: ({ healthTimeoutMs }) => {
      const journal = readJournal(paths.upgradeJournal)
      if (isUpgrading || isOnTrial || journal?.step !== 'staging')
        throw new AppError('conflict', 'An upgrade is under way already, or none is prepared.')
      requireWritable(dirname(journal.executable))
      isUpgrading = true
      const closeServer = async () => void (await Promise.all([commands.stop(), server.close()]))
      const own = { serveArguments: ownArguments(), environment: ownEnvironment() }
      void upgradeInPlace({ paths, journal, ...own, healthTimeoutMs, log, closeServer })
    },
  })
  return commands
}

function announce(server: RunningServer, { CP_INGRESS_HTTP, CP_INGRESS_HTTPS }: Config): void {
  for (const { title, reason } of server.missingGuarantees) {
    process.stderr.write(`cpd: not guaranteed on this machine: ${title}${reason === undefined ? '' : ` (${reason})`}\n`)
  }
  const strays = server.strays()
  if (strays.length > 0) process.stderr.write(`cpd: ${summaryOf(strays)}\n`)
  if (server.firstStart !== undefined) {
    const { email, generatedPassword } = server.firstStart
    const password =
      generatedPassword === undefined ? 'the password of CP_ADMIN_PASSWORD' : `password ${generatedPassword} (shown only now)`
    process.stdout.write(`Administrator: ${email}, ${password}\n`)
  }
  const https = CP_INGRESS_HTTPS === undefined ? '' : ` and, by https, ${formatAddress(CP_INGRESS_HTTPS)}`
  const services = `services at ${formatAddress(CP_INGRESS_HTTP)}${https}`
  process.stdout.write(`cpd ${version} ready: API ${server.publicUrl}, Swagger UI ${server.publicUrl}/docs, ${services}\n`)
}

/** @throws AppError when the new executable could not be put there after it has proven itself. */
function requireWritable(folder: string): void {
  try {
    accessSync(folder, constants.W_OK)
  } catch (cause) {
    throw new AppError(
      'forbidden',
      `cpd serve may not write to ${folder}, where its executable stands. Put it elsewhere, or run it as root.`,
      {
        cause,
      },
    )
  }
}
