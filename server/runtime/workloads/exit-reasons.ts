/** Why we ended instances ourselves, kept from the moment it is decided until their end is written down. */
export interface ExitReasons {
  set(instanceId: string, reason: string): void
  take(instanceId: string): string | undefined
}

export function createExitReasons(): ExitReasons {
  const reasons = new Map<string, string>()
  return {
    set: (instanceId, reason) => void reasons.set(instanceId, reason),
    take(instanceId) {
      const reason = reasons.get(instanceId)
      reasons.delete(instanceId)
      return reason
    },
  }
}
