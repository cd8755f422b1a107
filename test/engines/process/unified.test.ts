import { existsSync } from 'node:fs'
import { createProcessEngine } from '../../../server/engines/process/engine.ts'
import { describeEngine } from '../contract.ts'

/** Where version 1 is in use, the hierarchy of version 2 is mounted beside it, without controllers but with all else. */
const UNIFIED_BESIDE_V1 = '/sys/fs/cgroup/unified'
const cgroupRoot = existsSync(`${UNIFIED_BESIDE_V1}/cgroup.procs`) ? UNIFIED_BESIDE_V1 : '/sys/fs/cgroup'

const label = `cpd-test-unified-${process.pid}`

describeEngine('process engine on the unified hierarchy', (world) => createProcessEngine({ stateDir: world.stateDir, label, cgroupRoot }))
