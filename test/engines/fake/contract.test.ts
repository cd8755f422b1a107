import { describeEngine } from '../contract.ts'
import { makeFakeWorld } from './world.ts'

describeEngine('fake engine', () => makeFakeWorld())
