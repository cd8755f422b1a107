/** Commands on their way to one place: those that are given while it is busy go there together, in their order. */
export interface Batches {
  add(commands: readonly string[]): Promise<void>
  settled(): Promise<void>
}

export function createBatches(send: (commands: readonly string[]) => Promise<void>): Batches {
  let pending: string[] = []
  let running: Promise<void> = Promise.resolve()
  let next: Promise<void> | undefined

  function flush(): Promise<void> {
    const commands = pending
    pending = []
    next = undefined
    running = commands.length === 0 ? Promise.resolve() : send(commands)
    return running
  }

  return {
    add(commands) {
      pending.push(...commands)
      // Whoever asked for an earlier change hears of its failure; this one is tried all the same.
      next ??= running.catch(() => {}).then(flush)
      return next
    },
    settled: () => running.catch(() => {}),
  }
}
