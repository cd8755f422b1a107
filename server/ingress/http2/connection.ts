import type { ClientContext, ClientSocket, Connection } from '../exchange/client-context.ts'
import { Peer } from '../exchange/peer.ts'
import type { Deadlined } from '../limits/deadlines.ts'
import { DataSender } from './data-sender.ts'
import { LARGEST_STREAM_ID } from './frame.ts'
import { FrameIntake, type IntakeOwner } from './frame-intake.ts'
import { FrameWriter } from './frame-writer.ts'
import { ConnectionError, ErrorCode } from './http2-error.ts'
import { Outbox } from './outbox.ts'
import { ownSettings } from './settings.ts'
import { StreamTable } from './stream-table.ts'
import { atEndOfTurn, type TurnMember } from './turn.ts'

const STREAM_WINDOW_BYTES = 256 * 1024
/** Unread answers from which on nothing more is read from a client: it cannot make us answer without end. */
const PAUSE_BYTES = 64 * 1024

const CROWDED_BYTES = 8 * 1024 * 1024

/** Phases of a connection; `announced` still takes the requests on their way, `finishing` takes none, `closing` sends its last bytes. */
type Phase = 'open' | 'announced' | 'finishing' | 'closing' | 'closed'

/**
 * One HTTP/2 connection of a client (RFC 9113). Each request is a stream, read as the HTTP/1 request it means and answered by whoever
 * answers those. What all streams have to send in a turn of the event loop leaves in one write.
 */
export class Http2Connection implements Connection, Deadlined, IntakeOwner, TurnMember {
  readonly #socket: ClientSocket
  readonly context: ClientContext
  readonly peer: Peer
  readonly sender: DataSender
  readonly streamWindowBytes = STREAM_WINDOW_BYTES
  readonly #outbox: Outbox
  readonly #writer: FrameWriter
  readonly #streams = new StreamTable()
  readonly #intake: FrameIntake
  #phase: Phase = 'open'
  #isTurnAsked = false
  #phaseAt: number
  #headAt: number
  #stalledAt = 0
  #idleAt: number
  deadlineAt = 0

  constructor(socket: ClientSocket, context: ClientContext, scheme: 'http' | 'https') {
    const { limits, deadlines } = context
    this.#socket = socket
    this.context = context
    this.peer = new Peer(socket, context, { scheme })
    const wake = () => this.wake()
    this.#outbox = new Outbox(socket, wake)
    this.#writer = new FrameWriter(this.#outbox)
    this.sender = new DataSender(this.#outbox, this.#writer, wake)
    this.#phaseAt = this.#headAt = this.#idleAt = deadlines.now
    deadlines.add(this)
    this.#writer.settings(
      ownSettings({ maxStreams: limits.maxStreams, windowBytes: STREAM_WINDOW_BYTES, maxHeadBytes: limits.maxHeadBytes }),
    )
    this.#intake = new FrameIntake(this, this.#streams)
    if (context.isEnding) this.announceEnd()
  }

  received(bytes: Buffer): void {
    if (this.#isClosing) return
    if (!this.#intake.isInsideHead) this.#headAt = this.context.deadlines.now
    try {
      this.#intake.read(bytes)
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error
      this.#fail(error)
    }
    this.#rebalance()
  }

  drained(): void {
    this.#stalledAt = this.context.deadlines.now
    this.#outbox.drained()
    if (this.#outbox.isStuck) return
    if (this.#phase === 'closing') this.#phaseAt = this.#stalledAt
    this.endOfTurn()
    this.#rebalance()
  }

  /** Nothing can follow: no request, and no window for what is still to be sent. */
  ended(): void {
    if (this.#streams.size > 0 || this.#outbox.isStuck) this.drop()
    else if (this.#phase === 'closing') this.#socket.end()
    else this.#close()
  }

  gone(): void {
    if (this.#phase === 'closed') return
    this.#phase = 'closed'
    this.#intake.stop()
    this.peer.close()
    this.context.deadlines.delete(this)
    for (const stream of this.#streams.all()) stream.interrupted()
    this.context.left(this)
  }

  drop(): void {
    this.#socket.terminate()
    this.gone()
  }

  /**
   * Asks for no further request. Those the client had sent before it heard of that are served: their number is only then known and
   * told (RFC 9113 section 6.8), when it has answered the PING.
   */
  announceEnd(): void {
    if (this.#phase !== 'open') return
    this.#enter('announced')
    this.#writer.goaway({ lastStreamId: LARGEST_STREAM_ID, code: ErrorCode.noError, message: '' })
    this.#writer.ping()
  }

  closeWhenIdle(): void {
    this.announceEnd()
  }

  expired(): void {
    this.deadlineAt = 0
    if (this.peer.isEvicted) {
      this.drop()
      return
    }
    if (this.#outbox.isStuck) {
      if (this.#isLate(this.#stalledAt, 'writeIdleMs')) this.drop()
    } else if (this.#phase === 'closing') {
      if (this.#isLate(this.#phaseAt, 'lingerMs')) this.drop()
    } else {
      this.#check()
    }
  }

  get isCrowded(): boolean {
    return this.peer.isCrowded || this.#keptBytes >= CROWDED_BYTES
  }

  used(bytes: number): void {
    const increment = this.#intake.used(bytes)
    if (increment > 0 && !this.#isClosing) this.#writer.windowUpdate(0, increment)
  }

  dataSent(isStingy: boolean): void {
    if (!isStingy) this.#intake.earn()
  }

  over(streamId: number, state: 'ended' | 'reset'): void {
    this.#streams.remove(streamId, state)
    if (this.#streams.size > 0) return
    this.#idleAt = this.context.deadlines.now
    if (this.#phase === 'finishing') this.#close()
  }

  endOfTurn(): void {
    this.#isTurnAsked = false
    if (this.#phase === 'closed') return
    const wasStuck = this.#outbox.isStuck
    this.sender.pump()
    this.#outbox.flush()
    if (!wasStuck) this.#stalledAt = this.context.deadlines.now
    this.#rebalance()
  }

  failed(error: unknown): void {
    console.error(`A connection failed: ${error instanceof Error ? error.stack : error}`)
    this.drop()
  }

  wake(): void {
    if (this.#isTurnAsked) return
    this.#isTurnAsked = true
    atEndOfTurn(this)
  }

  pingAnswered(): void {
    if (this.#phase === 'announced') this.#finishStreams()
  }

  get #isClosing(): boolean {
    return this.#phase === 'closing' || this.#phase === 'closed'
  }

  get #keptBytes(): number {
    return this.sender.waitingBytes + this.#intake.heldBytes
  }

  #check(): void {
    if (this.#intake.isInsideHead && this.#isLate(this.#headAt, 'headTimeoutMs')) {
      this.#fail(new ConnectionError(ErrorCode.noError, 'a head did not come in time'))
    }
    if (this.#streams.size === 0 && this.#isLate(this.#idleAt, 'keepAliveMs')) this.announceEnd()
    if (this.#phase === 'announced' && this.#isLate(this.#phaseAt, 'lingerMs')) this.#finishStreams()
    for (const stream of this.#streams.all()) stream.check(this.context.deadlines.now)
  }

  #isLate(since: number, limit: 'writeIdleMs' | 'lingerMs' | 'headTimeoutMs' | 'keepAliveMs'): boolean {
    return this.context.deadlines.now - since > this.context.limits[limit]
  }

  #enter(phase: Phase): void {
    this.#phase = phase
    this.#phaseAt = this.context.deadlines.now
  }

  #finishStreams(): void {
    this.#enter('finishing')
    this.#intake.isFinishing = true
    this.#writer.goaway({ lastStreamId: this.#streams.lastTakenId, code: ErrorCode.noError, message: '' })
    if (this.#streams.size === 0) this.#close()
  }

  #fail({ code, message }: ConnectionError): void {
    if (this.#isClosing) return
    this.#writer.goaway({ lastStreamId: this.#streams.lastTakenId, code, message })
    this.#close()
    for (const stream of this.#streams.all()) stream.interrupted()
  }

  /** Sends what is left and closes our side; the client's further bytes are read and dropped, as a reset could cost it the last answers. */
  #close(): void {
    if (this.#isClosing) return
    this.#enter('closing')
    this.#intake.stop()
    this.#outbox.end()
  }

  #rebalance(): void {
    if (this.#phase === 'closed') return
    this.peer.keep(this.#keptBytes, this.#streams.size)
    this.peer.setPaused(this.#phase !== 'closing' && this.#outbox.isStuck && this.#outbox.waitingBytes >= PAUSE_BYTES)
  }
}
