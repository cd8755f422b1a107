import { existsSync } from 'node:fs'
import { createProcessEngine } from '../../../server/engines/process/engine.ts'
import { describeEngine } from '../contract.ts'
import { makeShellWorld } from './support/contract-world.ts'
import { describeProcesses, type EngineFactory } from './support/processes.ts'

/** Where version 1 is in use, the hierarchy of version 2 is mounted beside it, without controllers but with all else. */
const UNIFIED_BESIDE_V1 = '/sys/fs/cgroup/unified'
const cgroupRoot = existsSync(`${UNIFIED_BESIDE_V1}/cgroup.procs`) ? UNIFIED_BESIDE_V1 : '/sys/fs/cgroup'

const label = `cpd-test-unified-${process.pid}`

const NAME = 'process engine on the unified hierarchy'
const factory: EngineFactory = (world) => createProcessEngine({ stateDir: world.stateDir, label, cgroupRoot })

describeEngine(NAME, () => makeShellWorld(factory))
describeProcesses(NAME, factory)
