import { AppError } from '../../shared/error.ts'
import type { ServiceType } from '../../shared/service.ts'
import type { DetectInput } from './plan.ts'

/** The processes of a Procfile, by name, in its order. Lines that are none are passed over, as Heroku does. */
function parseProcfile(text: string): Map<string, string> {
  const processes = new Map<string, string>()
  for (const line of text.split('\n')) {
    const match = /^([A-Za-z0-9_-]+):\s*(\S.*)$/.exec(line.trim())
    if (match?.[1] !== undefined && match[2] !== undefined) processes.set(match[1], match[2])
  }
  return processes
}

const processOf: Partial<Record<ServiceType, string>> = { background_worker: 'worker', cron_job: 'cron' }

/** The start command that somebody wrote down: the service's own setting, else its process in the Procfile. */
export function declaredStart({ files, settings }: DetectInput): string | undefined {
  if (settings.startCommand) return settings.startCommand
  const processes = parseProcfile(files.read('Procfile') ?? '')
  const wanted = processOf[settings.type] ?? 'web'
  const [only] = processes.size === 1 ? processes.values() : []
  return processes.get(wanted) ?? only
}

/** @throws AppError `bad_request` saying what to add, when neither a declared nor a detected command is there. */
export function requireStart(command: string | undefined, remedy: string): string {
  if (command !== undefined) return command
  throw new AppError('bad_request', `No start command: ${remedy}, or set startCommand`)
}
