import type { Guarantee } from '../../engines/port/port.ts'
import type { TryResult } from './red-team/attempt.ts'

export interface Verdict {
  id: string
  title: string
  /** `missing` is what the engine itself says it cannot give; `broken` is what it promises and what was got round. */
  state: 'holds' | 'missing' | 'broken'
  reason?: string
  tries: TryResult[]
}

/** A try whose guarantee the engine does not speak of stands for itself, so that no success of the red team is ever left out. */
export function verdictsOf(guarantees: readonly Guarantee[], tries: readonly TryResult[]): Verdict[] {
  const promised = guarantees.map((guarantee) =>
    verdictOn(
      guarantee,
      tries.filter((one) => one.guarantee === guarantee.id),
    ),
  )
  const known = new Set(guarantees.map(({ id }) => id))
  const unpromised = tries.filter(({ guarantee }) => !known.has(guarantee))
  return [...promised, ...unpromised.map((one) => verdictOn({ id: one.id, title: `No hostile app ${one.title}`, holds: true }, [one]))]
}

function verdictOn({ id, title, holds, reason }: Guarantee, tries: TryResult[]): Verdict {
  if (!holds) return { id, title, state: 'missing', ...(reason === undefined ? {} : { reason }), tries }
  const broken = tries.filter(({ succeeded }) => succeeded.length > 0)
  if (broken.length === 0) return { id, title, state: 'holds', tries }
  return { id, title, state: 'broken', reason: `${broken.map((one) => `a hostile app ${one.title}`).join('; ')}. ${REPORT_IT}`, tries }
}

const REPORT_IT = 'This is a fault of cpd or of the machine: run no code of strangers here until it is mended, and report it'

export const isSound = (verdicts: readonly Verdict[]): boolean => verdicts.every(({ state }) => state === 'holds')
