import { createProcessEngine } from '../../../server/engines/process/engine.ts'
import { describeEngine } from '../contract.ts'

const label = `cpd-test-${process.pid}`

describeEngine('process engine', (world) => createProcessEngine({ stateDir: world.stateDir, label }))
