import { keyValuePlans } from '../../../../shared/key-value.ts'
import type { AppContext } from '../../context.ts'
import { planOf } from '../../key-value/plan.ts'
import { currentProgram } from '../../key-value/program.ts'
import { baseEnv } from '../../launch/launch.ts'
import { keysRead, RESTORE_SCRIPT } from '../key-value/restore-script.ts'
import { laySnapshot } from '../key-value/snapshots.ts'
import type { RestoreProgram } from './owner.ts'
import type { RestoreRequest, RestoreWay } from './restore-way.ts'

const MIB = 1024 * 1024

export const restoreStore: RestoreWay = {
  async lay(deps, material, { datastoreId, chain }) {
    await laySnapshot(deps, material, { datastoreId, backupId: chain.at(-1)?.id ?? '' })
  },
  program,
  limitsOf(plan) {
    const { memoryMb, cpu, pids } = keyValuePlans[planOf({ plan })]
    return { cpu: Math.max(1, cpu), memoryBytes: memoryMb * MIB, pids }
  },
  readIn: (output) => ({ ...keysRead(output) }),
}

async function program(context: AppContext, { recoveredId }: RestoreRequest): Promise<RestoreProgram> {
  const { name, server } = currentProgram(context)
  await context.programs.ensure(name)
  return {
    files: { programs: name },
    command: RESTORE_SCRIPT,
    env: (view) => ({
      ...baseEnv(view),
      CPD_VOLUME: view.volume ?? '',
      CPD_MATERIAL: view.material ?? '',
      SERVER: `${view.root}/${server}`,
      ...(recoveredId === undefined && { CPD_DRILL: '1' }),
    }),
  }
}
