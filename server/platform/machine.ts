import { availableParallelism, totalmem } from 'node:os'

/** What the machine has for everything that runs on it. */
export interface Machine {
  /** Cores. */
  cpu: number
  memoryBytes: number
}

/** This machine, or the part of it that the control plane itself was given. */
export function readMachine(): Machine {
  const constrained = process.constrainedMemory()
  const memoryBytes = constrained > 0 ? Math.min(totalmem(), constrained) : totalmem()
  return { cpu: availableParallelism(), memoryBytes }
}
