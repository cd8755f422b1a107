/**
 * Which cores are left to those that take all the processor time they may. Where nobody competes for them a neighbour's answer need not
 * wait for a turn of the scheduler, however many processes such an app has.
 */

export interface Confinable {
  parent: string
  limit: number
}

const SPARED_SHARE = 0.25

/** The cores that they may still have: all but a quarter, at least one less than there are; none of a single one can be spared. */
export function coresToShare(cores: readonly number[]): readonly number[] {
  return cores.length < 2 ? cores : cores.slice(Math.max(1, Math.floor(cores.length * SPARED_SHARE)))
}

/**
 * Who is to be confined: those that came first, as long as all of them have room for what their plans allow. Nobody gets less than that
 * for being confined, so one that needs more than there is left keeps all cores.
 */
export function planConfinement(cores: readonly number[], apps: readonly Confinable[]): Set<string> {
  const confined = new Set<string>()
  const room = coresToShare(cores).length
  if (room === cores.length) return confined
  let taken = 0
  for (const { parent, limit } of apps) {
    if (taken + limit > room) continue
    taken += limit
    confined.add(parent)
  }
  return confined
}

export function parseCores(list: string): number[] {
  return list
    .trim()
    .split(',')
    .filter((range) => range !== '')
    .flatMap((range) => {
      const [first = 0, last = first] = range.split('-').map(Number)
      return Array.from({ length: last - first + 1 }, (_, index) => first + index)
    })
}
