import type { SessionWatch } from '../databases/relay.ts'
import { errorResponse, sqlStates } from './error-response.ts'
import type { CancelKey } from './first-packet.ts'
import { Frames } from './frames.ts'

const codeOf = (letter: string): number => letter.charCodeAt(0)

const [BACKEND_KEY_DATA, READY_FOR_QUERY] = [codeOf('K'), codeOf('Z')]
const [QUERY, SYNC, FUNCTION_CALL] = [codeOf('Q'), codeOf('S'), codeOf('F')]
const IDLE = codeOf('I')
/** A process id, and a key of at most 256 bytes. */
const MAX_KEY_DATA_BYTES = 260

/** Each of these is answered by one ReadyForQuery. */
const isAnsweredByReady = (type: number): boolean => type === QUERY || type === SYNC || type === FUNCTION_CALL

/**
 * What goes on in a session, followed from outside: whether it is between two transactions, in which it can be ended without a loss, and
 * by which key its requests are cancelled.
 */
export class PostgresSession implements SessionWatch {
  readonly #fromClient: Frames
  readonly #fromServer: Frames
  /** ReadyForQuery that the server owes; the first ends the start of the session. */
  #owed = 1
  #isOutsideTransaction = false
  #isLetIn = false

  constructor(keyed: (key: CancelKey) => void) {
    this.#fromClient = new Frames(
      (type) => (isAnsweredByReady(type) ? 0 : -1),
      () => {
        this.#owed++
      },
    )
    this.#fromServer = new Frames(keptOfServer, (type, body) => {
      if (type === READY_FOR_QUERY) this.#ready(body)
      else if (body.length > 4) keyed({ processId: body.readInt32BE(0), secret: body.subarray(4) })
    })
  }

  clientSaid(bytes: Buffer): void {
    this.#fromClient.follow(bytes)
  }

  serverSaid(bytes: Buffer): void {
    this.#fromServer.follow(bytes)
  }

  get isLetIn(): boolean {
    return this.#isLetIn
  }

  get isIdle(): boolean {
    return this.#owed === 0 && this.#isOutsideTransaction && this.#fromClient.isBetweenMessages && this.#fromServer.isBetweenMessages
  }

  farewell(): Buffer | undefined {
    if (!this.#fromServer.isBetweenMessages) return undefined
    const message = 'terminating connection: the way in to this database is being replaced; connect again'
    return errorResponse({ state: sqlStates.adminShutdown, message })
  }

  #ready(status: Buffer): void {
    this.#owed--
    this.#isLetIn = true
    this.#isOutsideTransaction = status[0] === IDLE
  }
}

function keptOfServer(type: number): number {
  if (type === READY_FOR_QUERY) return 1
  return type === BACKEND_KEY_DATA ? MAX_KEY_DATA_BYTES : -1
}
