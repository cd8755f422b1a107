import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { AppError, messageOf } from '../../../shared/error.ts'
import { pathsOf } from '../../platform/paths.ts'
import { askAdopt, askDescribed } from '../serve-socket/client.ts'
import type { DescribedSet } from '../serve-socket/operations.ts'
import { aligned } from './aligned.ts'
import { requireDataDir } from './data-dir.ts'
import { commandWithSettings, configOf } from './settings.ts'

interface Flags {
  key: string
  workspace?: string
  json?: true
}

const KEY_HELP = 'File with the key of the backups, as `cpd backup-key` printed it; - reads it from standard input'

/** A machine that is lost leaves its bucket and its key: these bring its databases to another. */
export const backupsCommand = (): Command =>
  new Command('backups')
    .description('List what the bucket of CP_BACKUP_S3_… has, and have databases of another server be recovered from here')
    .addCommand(listCommand(), { isDefault: true })
    .addCommand(adoptCommand())

function listCommand(): Command {
  const command = commandWithSettings('list')
    .description('List the databases whose backups the bucket has and the key opens')
    .requiredOption('--key <file>', KEY_HELP)
    .option('--json', 'Print JSON, for scripts')
  return command.action(async () => {
    const { key, json } = command.opts<Flags>()
    const found = await askDescribed(socketOf(command), keyIn(key))
    process.stdout.write(json === true ? jsonOf(found) : renderSets(found))
  })
}

function adoptCommand(): Command {
  const command = commandWithSettings('adopt')
    .description(
      'Have databases of another server be recovered from here: nothing of theirs at the bucket is changed or removed, now or later',
    )
    .argument('[id...]', 'Databases, as the list shows them; all of other servers where none is named')
    .requiredOption('--key <file>', KEY_HELP)
    .option('--workspace <id>', 'Workspace whose members may recover them; the first where none is named')
    .option('--json', 'Print JSON, for scripts')
  return command.action(async (ids: string[]) => {
    const { key, workspace, json } = command.opts<Flags>()
    const workspaceId = workspace === undefined ? {} : { workspaceId: workspace }
    const adopted = await askAdopt(socketOf(command), { key: keyIn(key), ids, ...workspaceId })
    process.stdout.write(json === true ? jsonOf(adopted) : renderAdopted(adopted))
  })
}

function socketOf(command: Command): string {
  const { CP_DATA_DIR, CP_MASTER_KEY_FILE } = configOf(command)
  const paths = pathsOf(CP_DATA_DIR, CP_MASTER_KEY_FILE)
  requireDataDir(paths)
  return paths.serveSocket
}

const STANDARD_INPUT = 0

/** A key in an argument would be seen by every user of the machine. */
function keyIn(file: string): string {
  try {
    return readFileSync(file === '-' ? STANDARD_INPUT : file, 'utf8')
  } catch (cause) {
    throw new AppError('bad_request', `The key cannot be read: ${messageOf(cause)}`, { cause })
  }
}

export function renderSets(sets: readonly DescribedSet[]): string {
  if (sets.length === 0) return 'The bucket has no backups of databases.\n'
  const rows = sets.map(({ id, name, version, backups, from, until, state, problem }) => [
    ...[id, name ?? '', version ?? '', backups === undefined ? '' : String(backups), from ?? '', until ?? ''],
    problem ?? state ?? '',
  ])
  return `${aligned([['DATABASE', 'NAME', 'VERSION', 'BACKUPS', 'FROM', 'UNTIL', 'IS'], ...rows]).join('\n')}\n`
}

export function renderAdopted(adopted: readonly DescribedSet[]): string {
  if (adopted.length === 0) return 'The bucket has no backups of other servers that this key opens.\n'
  const commands = ['postgres', 'key_value'].flatMap((kind) => adopted.filter((set) => set.kind === kind).slice(0, 1)).map(recovery)
  return `${renderSets(adopted)}\nThey can be recovered now, each into a new one: ${commands.join(', ')}\n`
}

const recovery = ({ id, kind }: DescribedSet): string => `cpctl ${kind === 'key_value' ? 'kv' : 'postgres'} recover ${id}`

const jsonOf = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`
