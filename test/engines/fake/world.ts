import { createFakeEngine } from '../../../server/engines/fake/engine.ts'
import { createFakeMachine, type FakeMachine } from '../../../server/engines/fake/machine.ts'
import type { InstanceSpec } from '../../../server/engines/port/port.ts'
import type { Act, ContractWorld } from '../world.ts'

const limits = { cpu: 1, memoryBytes: 64 * 1024 * 1024, pids: 40 }
const sandboxOf = (serviceId: string) => ({ serviceId, uid: 1, gid: 1, homeDir: '/', tmpDir: '/', readOnlyBinds: [] })

export const commandOf = (acts: readonly Act[]): string => acts.map(stepOf).join(';')

function stepOf(act: Act): string {
  if (act === 'polite') return 'polite bye'
  if (typeof act === 'string') return act
  if ('print' in act) return `print ${act.print}`
  if ('waitMs' in act) return `wait ${act.waitMs}`
  if ('exit' in act) return `exit ${act.exit}`
  return `die ${act.die}`
}

/** A world in memory. */
export function makeFakeWorld(machine: FakeMachine = createFakeMachine()): ContractWorld {
  let count = 0
  const workload = (acts: readonly Act[], id: string) => ({
    command: commandOf(acts),
    outputPath: id,
    cwd: '/',
    env: {},
    sandbox: sandboxOf('srv-one'),
    limits,
  })
  const instance = (acts: readonly Act[], changes: Partial<InstanceSpec> = {}): InstanceSpec => {
    const instanceId = `srv-one-${++count}`
    return { instanceId, deployId: 'dep-one', port: 10_000, ...workload(acts, instanceId), ...changes }
  }
  const task: ContractWorld['task'] = (acts, changes = {}) => {
    const taskId = `dep-${++count}.build`
    return { taskId, timeoutMs: 30_000, ...workload(acts, taskId), ...changes }
  }
  return {
    open: async () => createFakeEngine(machine),
    instance,
    task,
    terminal: (acts, changes) => ({ ...task(acts), columns: 80, rows: 24, ...changes }),
    asService: (spec, serviceId) => ({ ...spec, sandbox: sandboxOf(serviceId) }),
    output: ({ outputPath }) => machine.output(outputPath),
    dispose: () => {},
  }
}
