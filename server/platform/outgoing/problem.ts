/** `refused` by our own rules, `unreachable`: no answer or a broken one, `late`, `oversized`: more of it than is taken. */
export type OutgoingProblemKind = 'refused' | 'unreachable' | 'late' | 'oversized'

/** Why a request of the server's own came to nothing. The message names the host, never the query or what was sent. */
export class OutgoingProblem extends Error {
  readonly kind: OutgoingProblemKind

  constructor(kind: OutgoingProblemKind, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'OutgoingProblem'
    this.kind = kind
  }
}
