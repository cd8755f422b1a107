import { createFakeEngine, type FakeEngineOptions } from '../../../server/engines/fake/engine.ts'
import { createFakeMachine, type FakeMachine } from '../../../server/engines/fake/machine.ts'
import type { InstanceSpec } from '../../../server/engines/port/workload.ts'
import type { Act, ContractWorld } from '../world.ts'

export const PREFERRED_PORT = 10_000

const limits = { cpu: 1, memoryBytes: 64 * 1024 * 1024, pids: 40 }
const ownerOf = (ownerId: string) => ({ id: ownerId, number: 1 })

export const commandOf = (acts: readonly Act[]): string => acts.map(stepOf).join(';')

function stepOf(act: Act): string {
  if (act === 'polite') return 'polite bye'
  if (typeof act === 'string') return act
  if ('print' in act) return `print ${act.print}`
  if ('use' in act) return `use ${act.use.cpuSeconds} ${act.use.megabytes * 1e6}`
  if ('waitMs' in act) return `wait ${act.waitMs}`
  if ('answer' in act) return `say ${act.answer};listen`
  if ('ask' in act) return `ask ${act.ask}`
  if ('watch' in act) return `watch ${act.watch}`
  if ('exit' in act) return `exit ${act.exit}`
  return `die ${act.die}`
}

/** A world in memory. */
export function makeFakeWorld(machine: FakeMachine = createFakeMachine(), options: FakeEngineOptions = {}): ContractWorld {
  let count = 0
  const workload = (acts: readonly Act[], id: string) => ({
    command: commandOf(acts),
    outputName: id,
    owner: ownerOf('srv-one'),
    files: { artifact: 'sha256' },
    env: () => ({}),
    limits,
    network: { name: 'wsp-one' },
    stack: { kind: 'host' as const, folders: [], searchPath: [] },
  })
  const instance = (acts: readonly Act[], changes: Partial<InstanceSpec> = {}): InstanceSpec => {
    const instanceId = `srv-one-${++count}`
    return { instanceId, deployId: 'dep-one', listens: { preferredPort: PREFERRED_PORT }, ...workload(acts, instanceId), ...changes }
  }
  return {
    open: async () => createFakeEngine(machine, options),
    instance,
    task: (acts) => ({ ...instance(acts), runs: 'once' }),
    terminal: (acts, changes) => {
      const { outputName: terminalId, ...spec } = workload(acts, `shl-${++count}`)
      return { ...spec, terminalId, columns: 80, rows: 24, ...changes }
    },
    asService: (spec, ownerId) => ({ ...spec, owner: ownerOf(ownerId) }),
    output: ({ outputName }) => machine.output(outputName),
    dispose: () => {},
  }
}
