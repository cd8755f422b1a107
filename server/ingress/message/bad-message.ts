/** A request or response that breaks the protocol. It is refused as it stands and never repaired. */
export class BadMessage extends Error {
  /** The status a client is answered with; a bad response becomes 502 whatever this says. */
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.name = 'BadMessage'
    this.status = status
  }
}
