import type { UploadLimits } from '../../shared/deploy.ts'
import { CliError } from '../base/error.ts'
import { formatSize } from '../base/figures.ts'
import type { Context } from '../session/context.ts'
import type { SourceFile } from '../source/files.ts'
import { cleanText } from '../terminal/text.ts'

const SHOWN_FILES = 5

/** @throws CliError `payload_too_large` when the server would refuse these files, with the largest of them. */
export async function requireFit({ client }: Pick<Context, 'client'>, files: readonly SourceFile[]): Promise<void> {
  const limits = await client.call('getUploadLimits').catch((error: unknown) => {
    // A server that does not tell refuses by itself.
    if (error instanceof CliError) return undefined
    throw error
  })
  const problem = limits && excessOf(files, limits)
  if (problem !== undefined) throw new CliError('payload_too_large', problem, { hint: remedyFor(files) })
}

/** Why the files are more than an upload may be; undefined when they are not, as far as can be told before they are packed. */
export function excessOf(files: readonly SourceFile[], { maxUnpackedBytes, maxFiles }: UploadLimits): string | undefined {
  const bytes = files.reduce((sum, file) => sum + sizeOf(file), 0)
  if (bytes > maxUnpackedBytes)
    return `The folder holds ${formatSize(bytes)}, and this server takes ${formatSize(maxUnpackedBytes)} at most.`
  if (files.length > maxFiles) return `The folder holds ${files.length} files, and this server takes ${maxFiles} at most.`
  return undefined
}

/** The largest files, and how to leave them out. */
export function remedyFor(files: readonly SourceFile[]): string {
  const largest = [...files].sort((one, other) => sizeOf(other) - sizeOf(one)).slice(0, SHOWN_FILES)
  const lines = largest.map((file) => `  ${formatSize(sizeOf(file)).padStart(9)}  ${cleanText(file.path)}`)
  return ['The largest files:', ...lines, 'Leave out with .cpignore what the server does not need; the operator sets the limit.'].join('\n')
}

const sizeOf = (file: SourceFile): number => (file.kind === 'file' ? file.sizeBytes : 0)
