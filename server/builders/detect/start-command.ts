import { AppError } from '../../../shared/error.ts'
import type { ServiceType } from '../../../shared/service-type.ts'
import type { DetectInput } from './plan.ts'

function parseProcfile(text: string): Map<string, string> {
  const processes = new Map<string, string>()
  for (const line of text.split('\n')) {
    const match = /^([A-Za-z0-9_-]+):\s*(\S.*)$/.exec(line.trim())
    if (match?.[1] !== undefined && match[2] !== undefined) processes.set(match[1], match[2])
  }
  return processes
}

const processOf: Partial<Record<ServiceType, string>> = { background_worker: 'worker', cron_job: 'cron' }

export function declaredStart({ files, settings }: DetectInput): string | undefined {
  if (settings.startCommand) return settings.startCommand
  const processes = parseProcfile(files.read('Procfile') ?? '')
  const wanted = processOf[settings.type] ?? 'web'
  const [only] = processes.size === 1 ? processes.values() : []
  return processes.get(wanted) ?? only
}

export const asSite = (finding: string): string =>
  `${finding}, and nothing in it answers requests: create it as a static_site (the type of a service cannot change: cpctl services create <name> --type static_site, then cpctl deploy --service <name>), or set startCommand`

/** @throws AppError `bad_request` saying what to add, when neither a declared nor a detected command is there. */
export function requireStart(command: string | undefined, remedy: string): string {
  if (command !== undefined) return command
  throw new AppError('bad_request', `No start command: ${remedy}, or set startCommand`)
}
