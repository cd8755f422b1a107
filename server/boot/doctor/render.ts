import type { Examination } from './examine.ts'
import type { Pressure } from './pressure.ts'
import type { TryResult } from './red-team/attempt.ts'
import type { Verdict } from './verdict.ts'

const STATE: Record<Verdict['state'], string> = { holds: 'holds  ', missing: 'MISSING', broken: 'BROKEN ' }

export function renderExamination({ verdicts, pressure, leftOut }: Examination): string[] {
  const attempted = verdicts.flatMap(({ tries }) => tries).reduce((sum, one) => sum + one.attempted, 0)
  return [
    `Isolation, after ${attempted} attempts of a hostile app to break it`,
    ...verdicts.flatMap(renderVerdict),
    ...(pressure === undefined ? [] : ['', "A neighbour's answers, 99th percentile", ...renderPressure(pressure)]),
    ...(leftOut.length === 0 ? [] : ['', 'Not tried', ...leftOut.map((one) => `  ${one}`)]),
  ]
}

function renderVerdict({ state, title, reason, tries }: Verdict): string[] {
  const successes = tries.filter(({ succeeded }) => succeeded.length > 0)
  return [`  ${STATE[state]}  ${title}${reason === undefined ? '' : `: ${reason}`}`, ...successes.flatMap(renderSuccess)]
}

const SHOWN = 5

function renderSuccess({ title, succeeded }: TryResult): string[] {
  const more = succeeded.length > SHOWN ? [`               and ${succeeded.length - SHOWN} more`] : []
  return [`             A hostile app ${title}:`, ...succeeded.slice(0, SHOWN).map((one) => `               ${one}`), ...more]
}

function renderPressure({ quietMs, samples, under }: Pressure): string[] {
  const line = (what: string, ms: number, rest: string) => `  ${what.padEnd(28)} ${ms.toFixed(2).padStart(8)} ms  ${rest}`
  return [
    line('quiet', quietMs, `${samples} answers`),
    ...under.map(({ id, p99Ms, ratio, samples: count }) =>
      line(`under ${id.replace('-', ' ')}`, p99Ms, `${ratio.toFixed(2)} times; ${count} answers`),
    ),
  ]
}
