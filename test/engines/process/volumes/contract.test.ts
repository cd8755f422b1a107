import { existsSync } from 'node:fs'
import { describe } from 'vitest'
import { describeVolumes } from '../../volumes-contract.ts'
import { makeVolumesWorld } from './world.ts'

describeVolumes('volumes in folders', () => makeVolumesWorld('folder'))

const hasLoopDevices = process.getuid?.() === 0 && existsSync('/dev/loop-control')

describe.runIf(hasLoopDevices)('on a machine with loop devices', () => {
  describeVolumes('volumes in images', () => makeVolumesWorld('image'))
})
