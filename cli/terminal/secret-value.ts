import type { EnvVar } from '../../shared/env.ts'

/** The value of a variable as tables tell it: as it is only where that is asked for. One that was left empty, such as by a copy, says so. */
export function secretValue({ value, hidden }: Pick<EnvVar, 'value' | 'hidden'>, isShown: boolean): string {
  if (hidden) return '(not yours to see)'
  if (value === '') return '(empty)'
  return isShown ? value : '••••••••'
}
