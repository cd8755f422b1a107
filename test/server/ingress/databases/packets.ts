/** What clients send before their first message. */
export function packet(code: number, body: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(8)
  head.writeInt32BE(8 + body.length, 0)
  head.writeInt32BE(code, 4)
  return Buffer.concat([head, body])
}

export const sslRequest = packet(80_877_103)
export const gssRequest = packet(80_877_104)

export function cancelRequest(processId: number, secret: Buffer): Buffer {
  const pid = Buffer.alloc(4)
  pid.writeInt32BE(processId, 0)
  return packet(80_877_102, Buffer.concat([pid, secret]))
}

export const startup = (parameters: Record<string, string>, version = 3 << 16): Buffer =>
  packet(
    version,
    Buffer.from(
      `${Object.entries(parameters)
        .flat()
        .map((text) => `${text}\0`)
        .join('')}\0`,
    ),
  )

/** A message: a letter, its length, its body. */
export function message(type: string, body: Buffer | string = ''): Buffer {
  const bytes = Buffer.from(body)
  const head = Buffer.alloc(5)
  head.write(type, 0, 'latin1')
  head.writeInt32BE(4 + bytes.length, 1)
  return Buffer.concat([head, bytes])
}

/** Fields of an ErrorResponse by their letters; undefined where it is none. */
export function errorIn(bytes: Buffer): Record<string, string> | undefined {
  if (bytes.toString('latin1', 0, 1) !== 'E') return undefined
  const fields = bytes.toString('utf8', 5, 1 + bytes.readInt32BE(1)).split('\0')
  return Object.fromEntries(fields.filter((field) => field !== '').map((field) => [field[0] ?? '', field.slice(1)]))
}
