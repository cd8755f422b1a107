import type { Frame } from './frame.ts'
import { DEFAULT_MAX_FRAME_BYTES, LARGEST_STREAM_ID, readUint32 } from './frame.ts'
import type { Setting } from './frame-writer.ts'
import { ConnectionError, ErrorCode } from './http2-error.ts'

/** RFC 9113 section 6.5.2, RFC 8441 section 3, RFC 9218 section 2.1. */
const SettingId = {
  headerTableSize: 1,
  enablePush: 2,
  maxConcurrentStreams: 3,
  initialWindowSize: 4,
  maxFrameSize: 5,
  maxHeaderListSize: 6,
  enableConnectProtocol: 8,
  noRfc7540Priorities: 9,
} as const

const SETTING_BYTES = 6
const LARGEST_FRAME_BYTES = 0xff_ffff

export interface OwnSettings {
  maxStreams: number
  windowBytes: number
  maxHeadBytes: number
}

export function ownSettings({ maxStreams, windowBytes, maxHeadBytes }: OwnSettings): readonly Setting[] {
  return [
    [SettingId.maxConcurrentStreams, maxStreams],
    [SettingId.initialWindowSize, windowBytes],
    [SettingId.maxHeaderListSize, maxHeadBytes],
    [SettingId.enableConnectProtocol, 1],
    [SettingId.noRfc7540Priorities, 1],
  ]
}

export interface PeerSettings {
  initialWindowBytes: number | undefined
  tableBytes: number | undefined
}

export function readSettings({ bytes, from, to }: Frame): PeerSettings {
  const settings: PeerSettings = { initialWindowBytes: undefined, tableBytes: undefined }
  for (let at = from; at < to; at += SETTING_BYTES) {
    const id = ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)
    const value = readUint32(bytes, at + 2)
    check(id, value)
    if (id === SettingId.initialWindowSize) settings.initialWindowBytes = value
    // The smallest one counts, even if it was made larger again in the same frame (RFC 7541 section 4.2).
    if (id === SettingId.headerTableSize) settings.tableBytes = Math.min(value, settings.tableBytes ?? value)
  }
  return settings
}

function check(id: number, value: number): void {
  const isFlag = id === SettingId.enablePush || id === SettingId.enableConnectProtocol || id === SettingId.noRfc7540Priorities
  if (isFlag && value > 1) throw new ConnectionError(ErrorCode.protocolError, `setting ${id} may only be 0 or 1`)
  if (id === SettingId.initialWindowSize && value > LARGEST_STREAM_ID) {
    throw new ConnectionError(ErrorCode.flowControlError, 'the initial window is larger than a window may be')
  }
  if (id === SettingId.maxFrameSize && (value < DEFAULT_MAX_FRAME_BYTES || value > LARGEST_FRAME_BYTES)) {
    throw new ConnectionError(ErrorCode.protocolError, 'the largest frame size is not one that is allowed')
  }
}
