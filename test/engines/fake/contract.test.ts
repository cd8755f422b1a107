import { describeEngine } from '../contract.ts'
import { makeKeptWorld } from '../kept-sets.ts'
import { describeLinks } from '../link-contract.ts'
import { describeOutput } from '../output-contract.ts'
import { describeSets } from '../sets-contract.ts'
import { makeFakeWorld } from './world.ts'

describeEngine('fake engine', () => makeFakeWorld())
describeEngine('fake engine whose instances share a network', () => makeFakeWorld(undefined, { capabilities: { ownNetworks: false } }))
describeLinks('fake engine', () => makeFakeWorld())
describeOutput('fake engine', () => makeFakeWorld())
describeSets('fake engine', () => makeKeptWorld(makeFakeWorld()))
