import { join } from 'node:path'
import { createProcessEngine } from '../../../server/engines/process/engine.ts'
import { describeEngine } from '../contract.ts'
import { makeShellWorld } from './support/contract-world.ts'
import { describeProcesses, type EngineFactory } from './support/processes.ts'

const label = `cpd-test-plain-${process.pid}`

const NAME = 'process engine without namespaces and control groups'
const factory: EngineFactory = (world) =>
  createProcessEngine({ stateDir: world.stateDir, label, cgroupRoot: join(world.dir, 'no-cgroups'), namespaces: 'none' })

describeEngine(NAME, () => makeShellWorld(factory))
describeProcesses(NAME, factory)
