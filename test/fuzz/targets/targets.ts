import type { FuzzTarget } from '../base/target.ts'
import { startGo, startLlhttp } from '../oracle/oracle.ts'
import { chunkedBodyTarget } from './chunked-body.ts'
import { firstCommandTarget } from './first-command.ts'
import { firstPacketTarget } from './first-packet.ts'
import { hpackTarget } from './hpack.ts'
import { http2FramesTarget } from './http2-frames.ts'
import { http2RequestTarget } from './http2-request.ts'
import { requestHeadTarget } from './request-head.ts'
import { responseHeadTarget } from './response-head.ts'

const starts = {
  'request-head': async () => requestHeadTarget([startLlhttp(), await startGo()]),
  'response-head': async () => responseHeadTarget([startLlhttp(), await startGo()]),
  'chunked-body': async () => chunkedBodyTarget([startLlhttp(), await startGo()]),
  'http2-frames': async () => http2FramesTarget([await startGo()]),
  hpack: async () => hpackTarget([await startGo()]),
  'first-packet': async () => firstPacketTarget(),
  'first-command': async () => firstCommandTarget(),
  'http2-request': async () => http2RequestTarget([startLlhttp(), await startGo()]),
} satisfies Record<string, () => Promise<FuzzTarget>>

export type TargetName = keyof typeof starts

export const targetNames = Object.keys(starts) as TargetName[]

/** A target with the readers beside it started. */
export function startTarget(name: TargetName): Promise<FuzzTarget> {
  return starts[name]()
}
