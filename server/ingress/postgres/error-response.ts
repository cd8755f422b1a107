/** SQLSTATEs of what this ingress says in place of a database (PostgreSQL, appendix A). */
export const sqlStates = {
  protocolViolation: '08P01',
  invalidAuthorization: '28000',
  unknownDatabase: '3D000',
  tooManyConnections: '53300',
  adminShutdown: '57P01',
  cannotConnectNow: '57P03',
  unsupported: '0A000',
} as const

export interface Fatal {
  state: (typeof sqlStates)[keyof typeof sqlStates]
  message: string
  hint?: string
}

/** An ErrorResponse of severity FATAL, after which the connection is closed. */
export function errorResponse({ state, message, hint }: Fatal): Buffer {
  const fields = ['SFATAL', 'VFATAL', `C${state}`, `M${message}`, ...(hint === undefined ? [] : [`H${hint}`]), '']
  const body = Buffer.from(fields.map((field) => `${field}\0`).join(''), 'utf8')
  const packet = Buffer.alloc(5 + body.length)
  packet.write('E', 0, 'latin1')
  packet.writeInt32BE(4 + body.length, 1)
  body.copy(packet, 5)
  return packet
}
