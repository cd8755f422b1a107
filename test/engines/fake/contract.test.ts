import { describeEngine } from '../contract.ts'
import { describeOutput } from '../output-contract.ts'
import { makeFakeWorld } from './world.ts'

describeEngine('fake engine', () => makeFakeWorld())
describeOutput('fake engine', () => makeFakeWorld())
