import { invalidValue } from '../../../../shared/error.ts'
import { nameProblem } from '../roles.ts'

const MOST = 63
const SUFFIX_BYTES = 5

/** What a new user is called: as is wished, or after the first one. @throws AppError validation_failed for a name that is kept. */
export function userNameOf({ wanted, owner, random }: { wanted: string | undefined; owner: string; random: string }): string {
  if (wanted === undefined || wanted === '') return `${owner.slice(0, MOST - SUFFIX_BYTES)}_${random}`
  const problem = nameProblem(wanted)
  if (problem !== undefined) throw invalidValue('/username', problem)
  return wanted
}
