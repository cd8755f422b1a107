import { invalidValue } from '../../../shared/error.ts'
import { buildPlans, plans } from '../../../shared/plan.ts'
import type { Machine } from '../../platform/machine.ts'
import type { ServiceSettings } from './settings.ts'

interface Wanted {
  cpu: number
  memoryMb: number
}

const MIB = 1024 * 1024
/** A machine sold with 4 GB shows a little less: firmware and kernel keep some of it. */
const KEPT_BY_KERNEL = 0.1

const kinds = [
  { field: 'plan', label: 'plan', sizes: plans },
  { field: 'buildPlan', label: 'build plan', sizes: buildPlans },
] as const

export const fitsMachine = ({ cpu, memoryBytes }: Machine, wanted: Wanted): boolean =>
  wanted.cpu <= cpu && wanted.memoryMb * MIB * (1 - KEPT_BY_KERNEL) <= memoryBytes

export function largestFitting<Name extends string>(machine: Machine, sizes: Readonly<Record<Name, Wanted>>): Name {
  const names = Object.keys(sizes) as Name[]
  const [smallest] = names as [Name]
  return names.findLast((name) => fitsMachine(machine, sizes[name])) ?? smallest
}

/** A plan that is kept passes: the service may have come from a larger machine. @throws AppError validation_failed naming what fits. */
export function refuseTooLarge(machine: Machine, before: PlansOf, after: PlansOf): void {
  for (const { field, label, sizes } of kinds) {
    if (after[field] !== before[field]) refuseLargePlan(machine, { name: after[field], label, sizes, path: `/serviceDetails/${field}` })
  }
}

type PlansOf = Pick<ServiceSettings, 'plan' | 'buildPlan'>

interface Asked {
  name: string
  label: string
  sizes: Readonly<Record<string, Wanted>>
  path: string
}

/** Refuses one plan, wherever it is asked for. @throws AppError validation_failed naming the largest plan that fits. */
export function refuseLargePlan(machine: Machine, { name, label, sizes, path }: Asked): void {
  const wanted = sizes[name]
  const largest = largestFitting(machine, sizes)
  if (wanted === undefined || name === largest || fitsMachine(machine, wanted)) return
  const message =
    `The ${label} ${name} is ${sizeText(wanted)}, and this machine has ${sizeText({ cpu: machine.cpu, memoryMb: machine.memoryBytes / MIB })}. ` +
    `Choose ${largest} (${sizeText(sizes[largest] as Wanted)}) or a smaller one, or move to a larger machine.`
  throw invalidValue(path, message)
}

const sizeText = ({ cpu, memoryMb }: Wanted): string =>
  `${cpu} CPU and ${memoryMb >= 1024 ? `${Math.round(memoryMb / 102.4) / 10} GB` : `${Math.round(memoryMb)} MB`}`
