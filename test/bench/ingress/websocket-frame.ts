const PAYLOAD_BYTES = 64
const MASK_BYTES = 4
const HEADER_BYTES = 2

/** A message of 64 bytes as a client sends it: masked, with a mask of zeros. */
export const messageFrame = Buffer.concat([
  Buffer.from([0x82, 0x80 | PAYLOAD_BYTES]),
  Buffer.alloc(MASK_BYTES),
  Buffer.alloc(PAYLOAD_BYTES, 'x'),
])
export const MESSAGE_FRAME_BYTES = HEADER_BYTES + MASK_BYTES + PAYLOAD_BYTES

export const echoFrame = Buffer.concat([Buffer.from([0x82, PAYLOAD_BYTES]), Buffer.alloc(PAYLOAD_BYTES, 'x')])
export const ECHO_FRAME_BYTES = HEADER_BYTES + PAYLOAD_BYTES
