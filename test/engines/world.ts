import type { Engine } from '../../server/engines/port/port.ts'
import type { InstanceSpec, Owner, TerminalSpec } from '../../server/engines/port/workload.ts'

/** What a workload of the contract does, whatever the engine runs it with; one that has nothing left to do exits with 0. */
export type Act =
  | { print: string }
  | { waitMs: number }
  | { exit: number }
  /** Takes so much of the processor and of memory. */
  | { use: { cpuSeconds: number; megabytes: number } }
  | { die: 'SIGKILL' }
  /** Writes its environment, each variable ended by NUL. */
  | 'printenv'
  /** From here on it writes `bye` and exits with 0 when asked to end. */
  | 'polite'
  /** From here on it ignores being asked to end. */
  | 'deaf'
  | 'serve'
  /** Answers every connection to its port with this text, and goes on. */
  | { answer: string }
  /** Writes what is answered by a name of its private network, or `nobody`. */
  | { ask: string }
  /** Does so for ever, whenever it changes. */
  | { watch: string }
  /** In a terminal: writes back what is typed. */
  | 'echo'

/** A place where engines run workloads, which outlives each of them. */
export interface ContractWorld {
  /** An engine on this world; the second time it stands for a restarted control plane. */
  open(): Promise<Engine>
  instance(acts: readonly Act[], changes?: Partial<InstanceSpec>): InstanceSpec
  /** One that runs once. */
  task(acts: readonly Act[]): InstanceSpec
  terminal(acts: readonly Act[], changes: Partial<TerminalSpec> & Pick<TerminalSpec, 'onOutput'>): TerminalSpec
  /** Turns a spec into one of another service. */
  asService<T extends InstanceSpec>(spec: T, ownerId: string): T
  /** What a workload has written. */
  output(spec: { owner: Owner; outputName: string }): string
  dispose(): void
}

/** Waits for something to become true; throws what it waited for when it does not. */
export async function until(what: string, check: () => boolean | Promise<boolean>, timeoutMs = 30_000): Promise<void> {
  const deadline = Date.now() + timeoutMs
  while (!(await check())) {
    if (Date.now() > deadline) throw new Error(`waited in vain until ${what}`)
    await Bun.sleep(5)
  }
}
