import type { ClientContext, ClientSocket, Connection } from '../client/connection.ts'
import type { Deadlined } from '../deadlines.ts'
import { BadMessage } from '../message/bad-message.ts'
import { RequestOrigin } from '../message/forward-request.ts'
import { DataSender } from './data-sender.ts'
import { type Allowance, FloodGuard } from './flood-guard.ts'
import { DEFAULT_MAX_FRAME_BYTES, Flag, type Frame, FrameType, LARGEST_STREAM_ID, readUint31 } from './frame.ts'
import { FrameReader } from './frame-reader.ts'
import { priorityProblem, stripPadding, stripPriority } from './frame-rules.ts'
import { FrameWriter } from './frame-writer.ts'
import { type HeaderBlock, HeaderBlocks } from './header-blocks.ts'
import { HpackDecoder } from './hpack-decoder.ts'
import { ConnectionError, ErrorCode, StreamError } from './http2-error.ts'
import { Outbox } from './outbox.ts'
import { Preface } from './preface.ts'
import { ReceiveWindow } from './receive-window.ts'
import { trailerLines } from './request-fields.ts'
import { RequestParser } from './request-parser.ts'
import { ownSettings, readSettings } from './settings.ts'
import { Http2Stream, type StreamHost } from './stream.ts'
import { StreamTable } from './stream-table.ts'
import { atEndOfTurn, type TurnMember } from './turn.ts'

/** Of one stream and of all together: what a client may send before somebody has taken it, and so what we may have to hold. */
const STREAM_WINDOW_BYTES = 256 * 1024
const CONNECTION_WINDOW_BYTES = 1024 * 1024
const INITIAL_WINDOW_BYTES = 65_535
/** The default, which is what there is before a client could hear of another (RFC 9113 section 6.5.2). */
const TABLE_BYTES = 4096
/** Unread answers from which on nothing more is read from a client: it cannot make us answer without end. */
const PAUSE_BYTES = 64 * 1024

/** Streams that a client begins and breaks off, or makes us break off (CVE-2023-44487, CVE-2025-8671). */
const BROKEN_STREAMS: Allowance = { burst: 300, perSecond: 30 }
/** Frames that make us do something and bring nothing forward (CVE-2019-9511 to 9518). */
const IDLE_FRAMES: Allowance = { burst: 1000, perSecond: 50 }
/** A useful frame may come with so many of them: both windows opened, twice. */
const IDLE_FRAMES_PER_USEFUL = 4

/**
 * Where a connection stands: serving; asking the client for no more requests, while those on their way are still taken; taking none any
 * more and finishing those there are; sending its last bytes; gone.
 */
type Phase = 'open' | 'announced' | 'finishing' | 'closing' | 'closed'

/**
 * One HTTP/2 connection of a client (RFC 9113). Each request is a stream, read as the HTTP/1 request it means and answered by whoever
 * answers those. What all streams have to send in a turn of the event loop leaves in one write.
 */
export class Http2Connection implements Connection, Deadlined, StreamHost, TurnMember {
  readonly #socket: ClientSocket
  readonly context: ClientContext
  readonly address: string
  readonly isTrusted: boolean
  readonly scheme: 'http' | 'https'
  readonly origin: RequestOrigin
  readonly sender: DataSender
  readonly streamWindowBytes = STREAM_WINDOW_BYTES
  readonly #outbox: Outbox
  readonly #writer: FrameWriter
  readonly #preface = new Preface()
  readonly #reader = new FrameReader(DEFAULT_MAX_FRAME_BYTES)
  readonly #blocks: HeaderBlocks
  readonly #decoder: HpackDecoder
  readonly #requests: RequestParser
  readonly #streams = new StreamTable()
  readonly #window = new ReceiveWindow(CONNECTION_WINDOW_BYTES)
  readonly #brokenStreams: FloodGuard
  readonly #idleFrames: FloodGuard
  /** Those that have received something in this turn. */
  readonly #touched = new Set<Http2Stream>()
  #phase: Phase = 'open'
  #hasSettings = false
  #isPaused = false
  #isTurnAsked = false
  /** By the clock of the deadlines: when this phase, the present head and the present silence of the client's socket began. */
  #phaseAt: number
  #headAt: number
  #stalledAt = 0
  /** When the last stream was over. */
  #idleAt: number
  /** Looked at on every tick. */
  deadlineAt = 0

  constructor(socket: ClientSocket, context: ClientContext, scheme: 'http' | 'https') {
    const { limits, deadlines } = context
    this.#socket = socket
    this.context = context
    this.scheme = scheme
    this.address = socket.remoteAddress.replace(/^::ffff:(?=\d+\.)/, '')
    this.isTrusted = context.isTrusted(this.address)
    this.origin = new RequestOrigin(this)
    const wake = () => this.#askForTurn()
    this.#outbox = new Outbox(socket, wake)
    this.#writer = new FrameWriter(this.#outbox)
    this.sender = new DataSender(this.#outbox, this.#writer, wake)
    this.#blocks = new HeaderBlocks(limits.maxHeadBytes)
    this.#decoder = new HpackDecoder({ maxTableBytes: TABLE_BYTES, maxListBytes: limits.maxHeadBytes })
    this.#requests = new RequestParser(limits)
    this.#phaseAt = this.#headAt = this.#idleAt = deadlines.now
    this.#brokenStreams = new FloodGuard(BROKEN_STREAMS, deadlines.now)
    this.#idleFrames = new FloodGuard(IDLE_FRAMES, deadlines.now)
    deadlines.add(this)
    this.#writer.settings(
      ownSettings({ maxStreams: limits.maxStreams, windowBytes: STREAM_WINDOW_BYTES, maxHeadBytes: limits.maxHeadBytes }),
    )
    this.#writer.windowUpdate(0, CONNECTION_WINDOW_BYTES - INITIAL_WINDOW_BYTES)
    if (context.isEnding) this.announceEnd()
  }

  // What the socket tells.

  received(bytes: Buffer): void {
    try {
      this.#read(bytes)
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error
      this.#fail(error)
    }
    this.#rebalance()
  }

  drained(): void {
    this.#stalledAt = this.context.deadlines.now
    this.#outbox.drained()
    if (!this.#outbox.isStuck) this.endOfTurn()
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
    this.context.deadlines.delete(this)
    for (const stream of this.#streams.all()) stream.breakOff()
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
    const { limits, deadlines } = this.context
    const { now } = deadlines
    const isLate = (since: number, patienceMs: number) => now - since > patienceMs
    if (this.#phase === 'closing') {
      if (isLate(this.#phaseAt, limits.lingerMs)) this.drop()
    } else if (this.#outbox.isStuck && isLate(this.#stalledAt, limits.writeIdleMs)) {
      this.drop()
    } else if (this.#isInsideHead && isLate(this.#headAt, limits.headTimeoutMs)) {
      this.#fail(new ConnectionError(ErrorCode.noError, 'a head did not come in time'))
    } else if (this.#streams.size === 0 && isLate(this.#idleAt, limits.keepAliveMs)) {
      this.#fail(new ConnectionError(ErrorCode.noError, ''))
    } else {
      if (this.#phase === 'announced' && isLate(this.#phaseAt, limits.lingerMs)) this.#finishStreams()
      for (const stream of this.#streams.all()) stream.check(now)
    }
  }

  // What streams ask for.

  used(bytes: number): void {
    const increment = bytes > 0 ? this.#window.giveBack(bytes) : 0
    if (increment > 0 && this.#phase !== 'closed') this.#writer.windowUpdate(0, increment)
  }

  dataSent(isStingy: boolean): void {
    if (!isStingy) this.#idleFrames.earn(IDLE_FRAMES_PER_USEFUL)
  }

  over(stream: Http2Stream, state: 'ended' | 'reset'): void {
    this.#streams.remove(stream.id, state)
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

  // How frames are taken.

  #read(bytes: Buffer): void {
    if (this.#phase === 'closing' || this.#phase === 'closed') return
    const from = this.#preface.isWhole ? 0 : this.#preface.take(bytes)
    if (!this.#isInsideHead) this.#headAt = this.context.deadlines.now
    this.#reader.push(from === 0 ? bytes : bytes.subarray(from))
    for (let frame = this.#reader.next(); frame !== undefined; frame = this.#reader.next()) {
      this.#take(frame)
      if (this.#isClosing) return
    }
    for (const stream of this.#touched) stream.deliver()
    this.#touched.clear()
  }

  #take(frame: Frame): void {
    if (!this.#hasSettings && frame.type !== FrameType.settings)
      throw new ConnectionError(ErrorCode.protocolError, 'SETTINGS must come first')
    this.#blocks.expect(frame)
    try {
      this.#handle(frame)
    } catch (error) {
      if (!(error instanceof StreamError)) throw error
      this.#resetStream(frame.streamId, error.code)
    }
  }

  #handle(frame: Frame): void {
    switch (frame.type) {
      case FrameType.data:
        return this.#data(frame)
      case FrameType.headers:
        stripPadding(frame)
        return this.#block(this.#blocks.begin(frame, stripPriority(frame)))
      case FrameType.continuation:
        return this.#block(this.#blocks.goOn(frame))
      case FrameType.rstStream:
        return this.#reset(frame)
      case FrameType.windowUpdate:
        return this.#windowUpdate(frame)
      case FrameType.settings:
        return this.#settings(frame)
      case FrameType.ping:
        return this.#ping(frame)
      case FrameType.priority:
        return this.#priority(frame)
      case FrameType.pushPromise:
        throw new ConnectionError(ErrorCode.protocolError, 'a client cannot push')
      default:
        // GOAWAY of a client says nothing that matters here; unknown types are to be ignored.
        this.#countIdleFrame()
    }
  }

  #data(frame: Frame): void {
    const frameBytes = frame.to - frame.from
    stripPadding(frame)
    if (!this.#window.take(frameBytes)) throw new ConnectionError(ErrorCode.flowControlError, 'more data was sent than allowed')
    const stream = this.#streams.get(frame.streamId)
    const isLast = (frame.flags & Flag.endStream) !== 0
    if (frame.to === frame.from && !isLast) this.#countIdleFrame()
    if (stream === undefined || stream.hasEnded) {
      this.used(frameBytes)
      this.#expectReset(frame.streamId)
      return
    }
    stream.data(frame, frameBytes)
    if (isLast) stream.end('')
    this.#touched.add(stream)
  }

  /** Data or a head for a stream that is not open: ignored only where the client cannot have known that we have reset it. */
  #expectReset(streamId: number): void {
    const state = this.#streams.get(streamId) === undefined ? this.#streams.stateOf(streamId) : 'ended'
    if (state === 'reset') return
    if (state === 'ended') throw new ConnectionError(ErrorCode.streamClosed, `stream ${streamId} had ended`)
    throw new ConnectionError(ErrorCode.protocolError, `stream ${streamId} is not open`)
  }

  #block(block: HeaderBlock | undefined): void {
    if (block === undefined) return
    // Even the block of a stream nobody wants changes the table.
    const { fields, isTooLarge } = this.#decoder.decode(block.bytes, block.from, block.to)
    const { streamId, isLast } = block
    if (block.isOfItself) throw new StreamError(ErrorCode.protocolError, 'a stream depends on itself')
    const stream = this.#streams.get(streamId)
    if (stream !== undefined && !stream.hasEnded) {
      if (!isLast) throw new StreamError(ErrorCode.protocolError, 'trailers do not end the stream')
      if (isTooLarge) throw new StreamError(ErrorCode.enhanceYourCalm, 'the trailers are too large')
      stream.end(trailerLines(fields))
      this.#touched.add(stream)
    } else if (stream !== undefined || streamId <= this.#streams.lastId) {
      this.#expectReset(streamId)
    } else {
      this.#open(block, isTooLarge ? new BadMessage(431, `the head is longer than ${this.context.limits.maxHeadBytes} bytes`) : fields)
    }
  }

  #open({ streamId, isLast }: HeaderBlock, request: BadMessage | Parameters<RequestParser['parse']>[0]): void {
    if (streamId % 2 === 0) throw new ConnectionError(ErrorCode.protocolError, `${streamId} is no id of a client's stream`)
    // It was told that these are not served, and may send them elsewhere.
    if (this.#phase === 'finishing') return
    this.#streams.begun(streamId)
    if (this.#streams.size >= this.context.limits.maxStreams) throw new StreamError(ErrorCode.refusedStream, 'too many streams')
    this.#idleFrames.earn(IDLE_FRAMES_PER_USEFUL)
    const stream = new Http2Stream(streamId, this)
    try {
      if (request instanceof BadMessage) throw request
      const parsed = this.#requests.parse(request, isLast)
      this.#streams.add(stream)
      stream.begin(parsed, isLast)
    } catch (error) {
      if (!(error instanceof BadMessage)) throw error
      this.#streams.add(stream)
      stream.beginRefused(error, isLast)
    }
    if (!isLast) this.#touched.add(stream)
  }

  #reset({ streamId }: Frame): void {
    const stream = this.#streams.get(streamId)
    if (stream === undefined) {
      if (this.#streams.stateOf(streamId) === 'idle') throw new ConnectionError(ErrorCode.protocolError, `stream ${streamId} has not begun`)
      this.#countIdleFrame()
      return
    }
    this.#countBrokenStream()
    stream.breakOff()
  }

  #resetStream(streamId: number, code: number): void {
    this.#countBrokenStream()
    const stream = this.#streams.get(streamId)
    if (stream !== undefined) {
      stream.reset(code)
      return
    }
    this.#writer.reset(streamId, code)
    this.#streams.remove(streamId, 'reset')
  }

  #windowUpdate({ streamId, bytes, from }: Frame): void {
    this.#countIdleFrame()
    const increment = readUint31(bytes, from)
    if (streamId === 0) {
      if (increment === 0) throw new ConnectionError(ErrorCode.protocolError, 'a window is opened by nothing')
      this.sender.windowBytes += increment
      if (this.sender.windowBytes > LARGEST_STREAM_ID) throw new ConnectionError(ErrorCode.flowControlError, 'the window is too large')
      this.#askForTurn()
      return
    }
    const stream = this.#streams.get(streamId)
    if (stream === undefined) {
      if (this.#streams.stateOf(streamId) === 'idle') throw new ConnectionError(ErrorCode.protocolError, `stream ${streamId} has not begun`)
      return
    }
    if (increment === 0) throw new StreamError(ErrorCode.protocolError, 'a window is opened by nothing')
    if (stream.windowBytes + increment > LARGEST_STREAM_ID) throw new StreamError(ErrorCode.flowControlError, 'the window is too large')
    stream.grow(increment)
  }

  #settings(frame: Frame): void {
    this.#hasSettings = true
    this.#countIdleFrame()
    if ((frame.flags & Flag.ack) !== 0) return
    const { initialWindowBytes, tableBytes } = readSettings(frame)
    if (tableBytes !== undefined && tableBytes < TABLE_BYTES) this.#writer.emptyTable()
    if (initialWindowBytes !== undefined) this.#resizeWindows(initialWindowBytes)
    this.#writer.settingsAck()
  }

  #resizeWindows(bytes: number): void {
    const change = bytes - this.sender.initialWindowBytes
    this.sender.initialWindowBytes = bytes
    for (const stream of this.#streams.all()) {
      if (stream.windowBytes + change > LARGEST_STREAM_ID) throw new ConnectionError(ErrorCode.flowControlError, 'a window is too large')
      stream.grow(change)
    }
  }

  #ping({ flags, bytes, from }: Frame): void {
    this.#countIdleFrame()
    if ((flags & Flag.ack) === 0) this.#writer.pingAck(bytes, from)
    else if (this.#phase === 'announced') this.#finishStreams()
  }

  #priority(frame: Frame): void {
    this.#countIdleFrame()
    const code = priorityProblem(frame)
    if (code === undefined) return
    if (this.#streams.get(frame.streamId) === undefined) throw new ConnectionError(code, 'a PRIORITY frame is wrong')
    throw new StreamError(code, 'a PRIORITY frame is wrong')
  }

  #countIdleFrame(): void {
    if (!this.#idleFrames.bears(this.context.deadlines.now))
      throw new ConnectionError(ErrorCode.enhanceYourCalm, 'too many frames of no use')
  }

  #countBrokenStream(): void {
    if (!this.#brokenStreams.bears(this.context.deadlines.now))
      throw new ConnectionError(ErrorCode.enhanceYourCalm, 'too many broken streams')
  }

  // How it goes on.

  get #isClosing(): boolean {
    return this.#phase === 'closing' || this.#phase === 'closed'
  }

  /** Whether a client has begun to say something that it must not leave unfinished for long. */
  get #isInsideHead(): boolean {
    if (!this.#hasSettings || this.#blocks.isInside) return true
    return this.#reader.isInsideFrame && this.#reader.partialType !== FrameType.data
  }

  #askForTurn(): void {
    if (this.#isTurnAsked) return
    this.#isTurnAsked = true
    atEndOfTurn(this)
  }

  #enter(phase: Phase): void {
    this.#phase = phase
    this.#phaseAt = this.context.deadlines.now
  }

  /** Tells which streams were taken; there will be no others. */
  #finishStreams(): void {
    this.#enter('finishing')
    this.#writer.goaway({ lastStreamId: this.#streams.lastId, code: ErrorCode.noError, message: '' })
    if (this.#streams.size === 0) this.#close()
  }

  /** Ends the connection and all that goes on in it. */
  #fail({ code, message }: ConnectionError): void {
    if (this.#isClosing) return
    this.#writer.goaway({ lastStreamId: this.#streams.lastId, code, message })
    this.#close()
    for (const stream of this.#streams.all()) stream.breakOff()
  }

  /** Sends what is left and closes our side; the client's further bytes are read and dropped, as a reset could cost it the last answers. */
  #close(): void {
    if (this.#isClosing) return
    this.#enter('closing')
    this.#touched.clear()
    this.#outbox.end()
  }

  #rebalance(): void {
    if (this.#phase === 'closed') return
    const mustPause = this.#phase !== 'closing' && this.#outbox.isStuck && this.#outbox.waitingBytes >= PAUSE_BYTES
    if (mustPause === this.#isPaused) return
    this.#isPaused = mustPause
    if (mustPause) this.#socket.pause()
    else this.#socket.resume()
  }
}
