import { createProcessEngine } from '../../../server/engines/process/engine.ts'
import { describeEngine } from '../contract.ts'
import { makeKeptWorld } from '../kept-sets.ts'
import { describeLinks } from '../link-contract.ts'
import { describeOutput } from '../output-contract.ts'
import { describeSets } from '../sets-contract.ts'
import { makeShellWorld } from './support/contract-world.ts'
import { describeProcesses, type EngineFactory } from './support/processes.ts'

const label = `cpd-test-${process.pid}`

const NAME = 'process engine'
const factory: EngineFactory = (world) => createProcessEngine({ stateDir: world.stateDir, label })

describeEngine(NAME, () => makeShellWorld(factory))
describeLinks(NAME, () => makeShellWorld(factory))
describeOutput(NAME, () => makeShellWorld(factory))
describeSets(NAME, () => makeKeptWorld(makeShellWorld(factory)))
describeProcesses(NAME, factory)
