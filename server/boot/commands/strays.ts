import { Command } from 'commander'
import { AppError } from '../../../shared/error.ts'
import { pathsOf } from '../../platform/paths.ts'
import { askEndStrays, askStrays } from '../serve-socket/client.ts'
import type { ListedStray } from '../serve-socket/operations.ts'
import { confirm } from './confirm.ts'
import { requireDataDir } from './data-dir.ts'
import { commandWithSettings, configOf } from './settings.ts'
import { renderStrays } from './strays-text.ts'

interface EndFlags {
  all?: true
  yes?: true
  json?: true
}

/** What an older database that was put back does not know runs on for a day: these commands show it to the operator and end it earlier. */
export const straysCommand = (): Command =>
  new Command('strays')
    .description('List or end what runs here though the database does not know it, as after an older one was put back')
    .addCommand(listCommand(), { isDefault: true })
    .addCommand(endCommand())

function listCommand(): Command {
  const command = commandWithSettings('list')
    .description('List strays, and when they are ended')
    .option('--json', 'Print JSON, for scripts')
  return command.action(async () => {
    const strays = await askStrays(socketOf(command))
    process.stdout.write(command.opts<EndFlags>().json === true ? jsonOf(strays) : renderStrays(strays))
  })
}

function endCommand(): Command {
  const command = commandWithSettings('end')
    .description('End strays now, and let go of the files that they stand on')
    .argument('[id...]', 'Strays, as the list shows them')
    .option('--all', 'End all of them')
    .option('--yes', 'Do not ask')
    .option('--json', 'Print the ids of those that were ended as JSON')
  return command.action(async (ids: string[]) => {
    const flags = command.opts<EndFlags>()
    const socket = socketOf(command)
    const wanted = wantedOf(await askStrays(socket), ids, flags)
    if (wanted.length > 0) await confirmEnd(wanted, flags)
    await endAll(socket, wanted)
    const ended = wanted.map(({ id }) => id)
    process.stdout.write(flags.json === true ? jsonOf(ended) : `Ended ${ended.length} ${ended.length === 1 ? 'stray' : 'strays'}.\n`)
  })
}

async function confirmEnd(strays: readonly ListedStray[], { yes, json }: EndFlags): Promise<void> {
  if (json !== true) process.stderr.write(renderStrays(strays))
  if (yes === true || (await confirm(`End ${strays.length === 1 ? 'it' : `all ${strays.length}`}?`))) return
  throw new AppError('conflict', 'Not ended: not confirmed.')
}

function socketOf(command: Command): string {
  const { CP_DATA_DIR, CP_MASTER_KEY_FILE } = configOf(command)
  const paths = pathsOf(CP_DATA_DIR, CP_MASTER_KEY_FILE)
  requireDataDir(paths)
  return paths.serveSocket
}

/** @throws AppError bad_request where it is not said which, not_found naming the first that is no stray. */
function wantedOf(strays: readonly ListedStray[], ids: readonly string[], { all }: EndFlags): readonly ListedStray[] {
  if (ids.length > 0 === (all === true)) throw new AppError('bad_request', 'Name the strays to end, or all of them with --all.')
  if (all === true) return strays
  const missing = ids.find((id) => strays.every((stray) => stray.id !== id))
  if (missing !== undefined) throw new AppError('not_found', `There is no stray ${missing}. \`cpd strays\` lists them.`)
  return strays.filter(({ id }) => ids.includes(id))
}

async function endAll(socket: string, strays: readonly ListedStray[]): Promise<void> {
  const ids = strays.map(({ id }) => id)
  const left = ids.length === 0 ? [] : (await askEndStrays(socket, ids)).filter(({ id }) => ids.includes(id))
  if (left.length > 0)
    throw new AppError('unavailable', `Not ended: ${left.map(({ id }) => id).join(', ')}. The log of cpd serve says why.`)
}

const jsonOf = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`
