import type { StepExit, StepUsed } from './port.ts'

export interface StepUse {
  name: string
  ms: number
  used?: StepUsed
}

export async function measured(name: string, run: () => Promise<StepExit>): Promise<{ exit: StepExit; use: StepUse }> {
  const beganAt = performance.now()
  const exit = await run()
  return { exit, use: { name, ms: performance.now() - beganAt, ...(exit.used && { used: exit.used }) } }
}

/** Lines of a build log, one for each step and one for all of them together. */
export function describeUse(steps: readonly StepUse[]): string[] {
  const lines = steps.map((step) => `    used by ${step.name}: ${figures(step)}`)
  return steps.length < 2 ? lines : [...lines, `    used in all: ${figures(together(steps))}`]
}

/** Steps run one after the other, so the most memory is that of one of them. */
function together(steps: readonly StepUse[]): Omit<StepUse, 'name'> {
  const ms = steps.reduce((sum, step) => sum + step.ms, 0)
  const all = steps.flatMap(({ used }) => used ?? [])
  if (all.length === 0) return { ms }
  const cpuSeconds = all.reduce((sum, used) => sum + used.cpuSeconds, 0)
  return { ms, used: { cpuSeconds, peakMemoryBytes: Math.max(...all.map(({ peakMemoryBytes }) => peakMemoryBytes)) } }
}

const MIB = 1024 * 1024

function figures({ ms, used }: Omit<StepUse, 'name'>): string {
  const time = `${(ms / 1000).toFixed(1)} s`
  if (used === undefined) return time
  return `${time}, ${used.cpuSeconds.toFixed(1)} s of processor time, at most ${Math.ceil(used.peakMemoryBytes / MIB)} MiB of memory`
}
