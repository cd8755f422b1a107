import { type Static, Type } from '@sinclair/typebox'

/** Binary frames are the bytes of one connection to a database, both ways; text frames are JSON. */

/** The most output that a client may be sent without having said that it took it, in bytes. */
export const tunnelWindowBytes = 1024 * 1024

/** What either side says of the bytes of the other that it has taken since it last said so. */
export const TunnelNotice = Type.Object({ type: Type.Literal('taken'), bytes: Type.Integer({ minimum: 0 }) })
export type TunnelNotice = Static<typeof TunnelNotice>
