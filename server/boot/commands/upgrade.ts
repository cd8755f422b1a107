import { resolve } from 'node:path'
import type { Command } from 'commander'
import { AppError } from '../../../shared/error.ts'
import { pathsOf } from '../../platform/paths.ts'
import { requestUpgrade, type UpgradeResult } from '../upgrade/request.ts'
import { confirm } from './confirm.ts'
import { commandWithSettings, configOf } from './settings.ts'

interface UpgradeFlags {
  force?: true
  yes?: true
  json?: true
  healthTimeout: string
}

const DEFAULT_HEALTH_TIMEOUT_SECONDS = 60

export function upgradeCommand(): Command {
  const command = commandWithSettings('upgrade')
    .description('Replace the running cpd by another executable, and go back by itself when that one is not healthy')
    .argument('<file>', 'The new executable')
    .option('--force', 'Also install the same or an older version')
    .option('--yes', 'Do not ask')
    .option('--json', 'Print the outcome as JSON')
    .option('--health-timeout <seconds>', 'How long the new version may take to become healthy', String(DEFAULT_HEALTH_TIMEOUT_SECONDS))
  return command.action(async (file: string) => {
    const flags = command.opts<UpgradeFlags>()
    const config = configOf(command)
    const result = await requestUpgrade({
      paths: pathsOf(config.CP_DATA_DIR, config.CP_MASTER_KEY_FILE),
      file: resolve(file),
      isForced: flags.force === true,
      healthTimeoutMs: millisecondsOf(flags.healthTimeout),
      confirm: async (from, to) => flags.yes === true || (await confirm(`Upgrade cpd from ${from} to ${to}?`)),
      report: (line) => process.stderr.write(`${line}\n`),
    })
    process.stdout.write(flags.json === true ? `${JSON.stringify(result)}\n` : `${outcomeOf(result)}\n`)
    process.exitCode = result.status === 'done' ? 0 : 1
  })
}

function outcomeOf({ status, from, to, backup, reason }: UpgradeResult): string {
  if (status === 'done')
    return `Upgraded from ${from} to ${to}. The old executable stands beside it as .previous, the databases of before in ${backup}.`
  return `Not upgraded: ${to} failed (${reason}). ${from} runs again, and apps were served all along.`
}

function millisecondsOf(text: string): number {
  const seconds = Number(text)
  if (!(seconds > 0)) throw new AppError('bad_request', '--health-timeout is a number of seconds, such as 60.')
  return Math.round(seconds * 1000)
}
