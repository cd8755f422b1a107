import { Flag, type Frame, FrameType, readUint31 } from './frame.ts'
import { ConnectionError, ErrorCode } from './http2-error.ts'

const SETTING_BYTES = 6
const PRIORITY_BYTES = 5
const GOAWAY_MIN_BYTES = 8

interface Rule {
  isOfStream: boolean | undefined
  allowsBytes(lengthBytes: number, flags: number): boolean
}

const anyBytes = () => true
const exactly = (expected: number) => (lengthBytes: number) => lengthBytes === expected

/** Rules by type of frame (RFC 9113 section 6). A PRIORITY of the wrong size spoils its stream alone, so that is left to whoever knows the streams. */
const rules: Record<number, Rule> = {
  [FrameType.data]: { isOfStream: true, allowsBytes: anyBytes },
  [FrameType.headers]: { isOfStream: true, allowsBytes: anyBytes },
  [FrameType.priority]: { isOfStream: true, allowsBytes: anyBytes },
  [FrameType.rstStream]: { isOfStream: true, allowsBytes: exactly(4) },
  [FrameType.settings]: {
    isOfStream: false,
    allowsBytes: (lengthBytes, flags) => ((flags & Flag.ack) === 0 ? lengthBytes % SETTING_BYTES === 0 : lengthBytes === 0),
  },
  [FrameType.pushPromise]: { isOfStream: true, allowsBytes: anyBytes },
  [FrameType.ping]: { isOfStream: false, allowsBytes: exactly(8) },
  [FrameType.goaway]: { isOfStream: false, allowsBytes: (lengthBytes) => lengthBytes >= GOAWAY_MIN_BYTES },
  [FrameType.windowUpdate]: { isOfStream: undefined, allowsBytes: exactly(4) },
  [FrameType.continuation]: { isOfStream: true, allowsBytes: anyBytes },
}
const ruleOfType: readonly (Rule | undefined)[] = Array.from({ length: 256 }, (_, type) => rules[type])

export function checkFrame({ type, flags, streamId, from, to }: Frame): void {
  const rule = ruleOfType[type]
  if (rule === undefined) return
  if (rule.isOfStream !== undefined && rule.isOfStream !== streamId > 0) {
    throw new ConnectionError(ErrorCode.protocolError, `a frame of type ${type} came for stream ${streamId}`)
  }
  if (!rule.allowsBytes(to - from, flags)) throw new ConnectionError(ErrorCode.frameSizeError, `a frame of type ${type} has a wrong size`)
}

export function stripPadding(frame: Frame): void {
  if ((frame.flags & Flag.padded) === 0) return
  const paddingBytes = frame.bytes[frame.from] ?? 0
  if (frame.from + 1 + paddingBytes > frame.to) throw new ConnectionError(ErrorCode.protocolError, 'the padding is longer than its frame')
  frame.from += 1
  frame.to -= paddingBytes
}

/**
 * Narrows a HEADERS frame to its field block. Priorities mean nothing any more (RFC 9113 section 5.3); what is left of them is that
 * no stream depends on itself: whether this one says so is returned.
 */
export function stripPriority(frame: Frame): boolean {
  if ((frame.flags & Flag.priority) === 0) return false
  if (frame.to - frame.from < PRIORITY_BYTES) throw new ConnectionError(ErrorCode.frameSizeError, 'HEADERS is shorter than its priority')
  const isOfItself = readUint31(frame.bytes, frame.from) === frame.streamId
  frame.from += PRIORITY_BYTES
  return isOfItself
}

export function priorityProblem({ bytes, from, to, streamId }: Frame): number | undefined {
  if (to - from !== PRIORITY_BYTES) return ErrorCode.frameSizeError
  return readUint31(bytes, from) === streamId ? ErrorCode.protocolError : undefined
}
