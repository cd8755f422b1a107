import { availableParallelism, totalmem } from 'node:os'

export interface Machine {
  cpu: number
  memoryBytes: number
}

export function readMachine(): Machine {
  const constrained = process.constrainedMemory()
  const memoryBytes = constrained > 0 ? Math.min(totalmem(), constrained) : totalmem()
  return { cpu: availableParallelism(), memoryBytes }
}
