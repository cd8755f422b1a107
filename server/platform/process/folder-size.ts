import { AppError } from '../../../shared/error.ts'
import { runProcess } from './spawn.ts'
import { systemEnv } from './system-tools.ts'

export type SizeUnit = 'bytes' | 'files'

const COUNTING: Record<SizeUnit, string> = { bytes: '--block-size=1', files: '--inodes' }

export async function sizeOfFolder(
  folder: string,
  unit: SizeUnit,
  options: { signal: AbortSignal; timeoutMs: number },
): Promise<number | undefined> {
  try {
    // A file that vanishes meanwhile makes du fail, after it has told the sum.
    const { stdout } = await runProcess(['du', '-s', '-x', COUNTING[unit], '--', folder], { env: systemEnv, ...options })
    const held = Number.parseInt(stdout, 10)
    return Number.isNaN(held) ? undefined : held
  } catch (error) {
    if (error instanceof AppError) return undefined
    throw error
  }
}
