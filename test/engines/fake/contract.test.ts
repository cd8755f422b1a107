import { describeEngine } from '../contract.ts'
import { describeOutput } from '../output-contract.ts'
import { makeFakeWorld } from './world.ts'

describeEngine('fake engine', () => makeFakeWorld())
describeEngine('fake engine whose instances share a network', () => makeFakeWorld(undefined, { capabilities: { ownNetworks: false } }))
describeOutput('fake engine', () => makeFakeWorld())
