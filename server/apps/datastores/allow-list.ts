import { AppError } from '../../../shared/error.ts'
import { asKept, badBlocks } from '../services/controls.ts'

type Given = Parameters<typeof badBlocks>[0]

const everywhere = [{ cidrBlock: '0.0.0.0/0', description: 'everywhere' }]

/** Who may connect from outside. @throws AppError validation_failed naming every bad entry. */
export function allowListOf(given: Given = everywhere): ReturnType<typeof asKept> {
  const problems = badBlocks(given, '/ipAllowList')
  const [first] = problems
  if (first !== undefined) throw new AppError('validation_failed', first.message, { details: problems })
  return asKept(given)
}
