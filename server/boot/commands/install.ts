import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { Command } from 'commander'
import { AppError } from '../../../shared/error.ts'
import { readIfPresent } from '../../platform/files/read-file.ts'
import { pathsOf } from '../../platform/paths.ts'
import { isCompiled } from '../../platform/process/self.ts'
import { applyStep } from '../install/apply.ts'
import { describeStep, ENV_FILE, INSTALLED_PATH, planInstall, planUninstall, type Step, UNIT, UNIT_FILE } from '../install/plan.ts'
import { checkSettings } from '../settings/config.ts'
import { ownEnvironment } from '../settings/environment.ts'

interface Flags {
  data: string
  root?: string
  dryRun?: true
}

interface InstallFlags extends Flags {
  baseDomain?: string
  publicUrl?: string
  acmeEmail?: string
  user?: string
  force?: true
}

const DEFAULT_DATA_DIR = '/var/lib/cpd'
const isSystemdRunning = (): boolean => existsSync('/run/systemd/system')

export function installCommand(): Command {
  return withPlace(new Command('install'))
    .description('Install this executable as a systemd unit that serves ports 80 and 443')
    .option('--base-domain <name>', 'Services answer at <slug>.<base domain>')
    .option('--public-url <url>', 'URL under which people reach the API')
    .option('--acme-email <address>', 'Account of the certificate authority')
    .option('--user <name>', 'Run as this user instead of root; services are not protected from each other then')
    .option('--force', 'Overwrite another cpd')
    .action(async (flags: InstallFlags) => {
      if (!isCompiled) throw new AppError('bad_request', 'Only the compiled executable can be installed. Build it with `npm run build`.')
      const envFile = flags.root === undefined ? ENV_FILE : join(flags.root, ENV_FILE)
      const existingEnvFile = readIfPresent(envFile)
      const settings = await givenSettings(flags, existingEnvFile === undefined)
      checkSettings(settings)
      const { data: dataDir, root, user } = flags
      const place = { dataDir, root, isSystemdRunning: isSystemdRunning() }
      const steps = planInstall({ ...place, executable: process.execPath, user, settings, existingEnvFile })
      await carryOut(steps, flags, flags.force === true)
      if (flags.dryRun !== true) process.stdout.write(`${nextAfter(flags, place.isSystemdRunning)}\n`)
    })
}

export function uninstallCommand(): Command {
  return withPlace(new Command('uninstall'))
    .description('Stop everything and remove the unit and the executable; data and settings stay')
    .action(async (flags: Flags) => {
      const { data: dataDir, root } = flags
      const isInstalled = existsSync(UNIT_FILE) && existsSync(INSTALLED_PATH) && existsSync(pathsOf(dataDir).run)
      await carryOut(planUninstall({ dataDir, root, isSystemdRunning: isSystemdRunning(), isInstalled }), flags, false)
      if (flags.dryRun !== true) process.stdout.write(`Removed. ${dataDir} and ${ENV_FILE} were kept.\n`)
    })
}

const withPlace = (command: Command): Command =>
  command
    .option('--data <folder>', 'Folder that holds everything', DEFAULT_DATA_DIR)
    .option('--root <folder>', 'Do it below this folder, and start nothing')
    .option('--dry-run', 'Only print what would be done')

async function carryOut(steps: readonly Step[], { dryRun }: Flags, isForced: boolean): Promise<void> {
  for (const step of steps) {
    const isChanged = dryRun === true || (await applyStep(step, { isForced, environment: ownEnvironment() }))
    const [headline = ''] = describeStep(step).split(':\n')
    process.stdout.write(dryRun === true ? `${describeStep(step)}\n` : `${isChanged ? 'done     ' : 'unchanged'} ${headline}\n`)
  }
}

async function givenSettings(flags: InstallFlags, isFirst: boolean): Promise<Record<string, string>> {
  const given = { CP_BASE_DOMAIN: flags.baseDomain, CP_PUBLIC_URL: flags.publicUrl, CP_ACME_EMAIL: flags.acmeEmail }
  const isAsked = isFirst && flags.dryRun !== true && process.stdin.isTTY === true
  const answers = isAsked ? await askFor(given) : given
  return Object.fromEntries(Object.entries(answers).filter((entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== ''))
}

const questions = {
  CP_BASE_DOMAIN: 'Base domain, below which services get their names (empty: localhost): ',
  CP_PUBLIC_URL: 'URL under which people reach the API (empty: http://localhost:8400): ',
  CP_ACME_EMAIL: 'E-mail address for the certificate authority (empty: none): ',
}

async function askFor<T extends Record<keyof typeof questions, string | undefined>>(given: T): Promise<T> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  const answers: T = { ...given }
  for (const name of Object.keys(questions) as (keyof typeof questions)[]) {
    if (given[name] === undefined) Object.assign(answers, { [name]: (await terminal.question(questions[name])).trim() })
  }
  terminal.close()
  return answers
}

function nextAfter({ root }: InstallFlags, hasStarted: boolean): string {
  if (root !== undefined) return `Installed below ${root}. Nothing was started.`
  if (hasStarted) return `cpd runs. Its first words, the administrator's password among them: journalctl -u ${UNIT}`
  return `systemd does not run here. Where it does: systemctl enable --now ${UNIT}. By hand: set -a; . ${ENV_FILE}; cpd serve`
}
