/** What shells are among the workloads of a service: they have a row while their terminal is open, and end with it. */
export const SHELL = { ownerKind: 'service', purpose: 'shell' } as const
