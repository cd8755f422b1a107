/** What RFC 9113 section 4.1 and 6 call the parts of a frame. */
export const FrameType = {
  data: 0,
  headers: 1,
  priority: 2,
  rstStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const

export const Flag = { endStream: 0x1, ack: 0x1, endHeaders: 0x4, padded: 0x8, priority: 0x20 } as const

export const FRAME_HEADER_BYTES = 9
export const DEFAULT_MAX_FRAME_BYTES = 16 * 1024
export const LARGEST_STREAM_ID = 0x7fff_ffff

export interface Frame {
  type: number
  flags: number
  streamId: number
  bytes: Buffer
  from: number
  to: number
}

export function readUint32(bytes: Uint8Array, at: number): number {
  return (((bytes[at] ?? 0) << 24) | ((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0)) >>> 0
}

export function readUint31(bytes: Uint8Array, at: number): number {
  return readUint32(bytes, at) & 0x7fff_ffff
}
