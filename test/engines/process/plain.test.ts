import { join } from 'node:path'
import { createProcessEngine } from '../../../server/engines/process/engine.ts'
import { describeEngine } from '../contract.ts'

const label = `cpd-test-plain-${process.pid}`

describeEngine('process engine without namespaces and control groups', (world) =>
  createProcessEngine({ stateDir: world.stateDir, label, cgroupRoot: join(world.dir, 'no-cgroups'), namespaces: 'none' }),
)
