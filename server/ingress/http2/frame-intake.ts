import { BadMessage } from '../message/bad-message.ts'
import { FloodGuard } from './flood-guard.ts'
import { DEFAULT_MAX_FRAME_BYTES, Flag, type Frame, FrameType, LARGEST_STREAM_ID, readUint31 } from './frame.ts'
import { FrameReader } from './frame-reader.ts'
import { priorityProblem, stripPadding, stripPriority } from './frame-rules.ts'
import { type HeaderBlock, HeaderBlocks } from './header-blocks.ts'
import type { HeaderField } from './header-field.ts'
import { HpackDecoder } from './hpack-decoder.ts'
import { ConnectionError, ErrorCode, StreamError } from './http2-error.ts'
import { Preface } from './preface.ts'
import { ReceiveWindow } from './receive-window.ts'
import { trailerLines } from './request-fields.ts'
import { RequestParser } from './request-parser.ts'
import { readSettings } from './settings.ts'
import { Http2Stream } from './stream.ts'
import type { StreamHost } from './stream-host.ts'
import type { StreamTable } from './stream-table.ts'

const CONNECTION_WINDOW_BYTES = 1024 * 1024
const INITIAL_WINDOW_BYTES = 65_535
/** The default, which is what there is before a client could hear of another (RFC 9113 section 6.5.2). */
const TABLE_BYTES = 4096

export interface IntakeOwner extends StreamHost {
  readonly isCrowded: boolean
  wake(): void
  pingAnswered(): void
}

/** Takes the frames of a client: begins and feeds the streams. Throws ConnectionError, after which it must not be used. */
export class FrameIntake {
  readonly #owner: IntakeOwner
  readonly #streams: StreamTable
  readonly #preface = new Preface()
  readonly #reader = new FrameReader(DEFAULT_MAX_FRAME_BYTES)
  readonly #blocks: HeaderBlocks
  readonly #decoder: HpackDecoder
  readonly #requests: RequestParser
  readonly #window = new ReceiveWindow(CONNECTION_WINDOW_BYTES)
  readonly #floods: FloodGuard
  readonly #touched = new Set<Http2Stream>()
  #hasSettings = false
  #isStopped = false
  /** Whether new streams are ignored: the client was told so, and may send them elsewhere. */
  isFinishing = false

  constructor(owner: IntakeOwner, streams: StreamTable) {
    const { limits, deadlines } = owner.context
    this.#owner = owner
    this.#streams = streams
    this.#blocks = new HeaderBlocks(limits.maxHeadBytes)
    this.#decoder = new HpackDecoder({ maxTableBytes: TABLE_BYTES, maxListBytes: limits.maxHeadBytes })
    this.#requests = new RequestParser(limits)
    this.#floods = new FloodGuard(deadlines)
    owner.sender.writer.windowUpdate(0, CONNECTION_WINDOW_BYTES - INITIAL_WINDOW_BYTES)
  }

  get isInsideHead(): boolean {
    if (!this.#hasSettings || this.#blocks.isInside) return true
    return this.#reader.isInsideFrame && this.#reader.partialType !== FrameType.data
  }

  read(bytes: Buffer): void {
    const from = this.#preface.isWhole ? 0 : this.#preface.take(bytes)
    this.#reader.push(from === 0 ? bytes : bytes.subarray(from))
    for (let frame = this.#reader.next(); frame !== undefined && !this.#isStopped; frame = this.#reader.next()) this.#take(frame)
    for (const stream of this.#touched) stream.deliver()
    for (const stream of this.#touched) stream.keep()
    this.#touched.clear()
  }

  get heldBytes(): number {
    return this.#window.heldBytes
  }

  stop(): void {
    this.#isStopped = true
    this.#touched.clear()
  }

  used(bytes: number): number {
    return bytes > 0 ? this.#window.giveBack(bytes) : 0
  }

  earn(): void {
    this.#floods.usefulFrame()
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
        this.#data(frame)
        break
      case FrameType.headers:
        stripPadding(frame)
        this.#block(this.#blocks.begin(frame, stripPriority(frame)))
        break
      case FrameType.continuation:
        this.#block(this.#blocks.goOn(frame))
        break
      case FrameType.rstStream:
        this.#reset(frame)
        break
      case FrameType.windowUpdate:
        this.#windowUpdate(frame)
        break
      case FrameType.settings:
        this.#settings(frame)
        break
      case FrameType.ping:
        this.#ping(frame)
        break
      case FrameType.priority:
        this.#priority(frame)
        break
      case FrameType.pushPromise:
        throw new ConnectionError(ErrorCode.protocolError, 'a client cannot push')
      default:
        // GOAWAY of a client says nothing that matters here; unknown types are to be ignored.
        this.#floods.idleFrame()
    }
  }

  #data(frame: Frame): void {
    const frameBytes = frame.to - frame.from
    stripPadding(frame)
    if (!this.#window.take(frameBytes)) throw new ConnectionError(ErrorCode.flowControlError, 'more data was sent than allowed')
    const stream = this.#streams.get(frame.streamId)
    const isLast = (frame.flags & Flag.endStream) !== 0
    if (frame.to === frame.from && !isLast) this.#floods.idleFrame()
    if (stream === undefined || stream.hasEnded) {
      this.#owner.used(frameBytes)
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
      if (stream.isForTunnel) throw new StreamError(ErrorCode.protocolError, 'a tunnel has nothing but data')
      if (!isLast) throw new StreamError(ErrorCode.protocolError, 'trailers do not end the stream')
      if (isTooLarge) throw new StreamError(ErrorCode.enhanceYourCalm, 'the trailers are too large')
      stream.end(trailerLines(fields))
      this.#touched.add(stream)
    } else if (stream !== undefined || streamId <= this.#streams.lastId) {
      this.#expectReset(streamId)
    } else {
      this.#open(
        block,
        isTooLarge ? new BadMessage(431, `the head is longer than ${this.#owner.context.limits.maxHeadBytes} bytes`) : fields,
      )
    }
  }

  #open({ streamId, isLast }: HeaderBlock, request: BadMessage | readonly HeaderField[]): void {
    if (streamId % 2 === 0) throw new ConnectionError(ErrorCode.protocolError, `${streamId} is no id of a client's stream`)
    if (this.isFinishing) {
      this.#streams.ignored(streamId)
      return
    }
    this.#streams.begun(streamId)
    if (this.#streams.size >= this.#owner.context.limits.maxStreams) throw new StreamError(ErrorCode.refusedStream, 'too many streams')
    if (this.#owner.isCrowded) throw new StreamError(ErrorCode.refusedStream, 'too much waits for the client')
    this.earn()
    const stream = new Http2Stream(streamId, this.#owner, isLast)
    try {
      if (request instanceof BadMessage) throw request
      const parsed = this.#requests.parse(request, isLast)
      this.#streams.add(stream)
      stream.begin(parsed)
    } catch (error) {
      if (error instanceof StreamError) stream.beginMalformed()
      if (!(error instanceof BadMessage)) throw error
      this.#streams.add(stream)
      stream.refuse(error)
    }
    if (!isLast) this.#touched.add(stream)
  }

  #reset({ streamId }: Frame): void {
    const stream = this.#streams.get(streamId)
    if (stream === undefined) {
      if (this.#streams.stateOf(streamId) === 'idle') throw new ConnectionError(ErrorCode.protocolError, `stream ${streamId} has not begun`)
      this.#floods.idleFrame()
      return
    }
    this.#floods.brokenStream()
    stream.interrupted()
  }

  #resetStream(streamId: number, code: number): void {
    this.#floods.brokenStream()
    const stream = this.#streams.get(streamId)
    if (stream !== undefined) {
      stream.reset(code)
      return
    }
    this.#owner.sender.writer.reset(streamId, code)
    this.#streams.remove(streamId, 'reset')
  }

  #windowUpdate({ streamId, bytes, from }: Frame): void {
    this.#floods.idleFrame()
    const increment = readUint31(bytes, from)
    const stream = this.#streams.get(streamId)
    if (increment === 0 && stream === undefined) throw new ConnectionError(ErrorCode.protocolError, 'a window is opened by nothing')
    if (streamId === 0) {
      this.#owner.sender.windowBytes += increment
      if (this.#owner.sender.windowBytes > LARGEST_STREAM_ID)
        throw new ConnectionError(ErrorCode.flowControlError, 'the window is too large')
      this.#owner.wake()
      return
    }
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
    this.#floods.idleFrame()
    if ((frame.flags & Flag.ack) !== 0) return
    const { initialWindowBytes, tableBytes } = readSettings(frame)
    if (tableBytes !== undefined && tableBytes < TABLE_BYTES) this.#owner.sender.writer.emptyTable()
    if (initialWindowBytes !== undefined) this.#resizeWindows(initialWindowBytes)
    this.#owner.sender.writer.settingsAck()
  }

  #resizeWindows(bytes: number): void {
    const change = bytes - this.#owner.sender.initialWindowBytes
    this.#owner.sender.initialWindowBytes = bytes
    for (const stream of this.#streams.all()) {
      if (stream.windowBytes + change > LARGEST_STREAM_ID) throw new ConnectionError(ErrorCode.flowControlError, 'a window is too large')
      stream.grow(change)
    }
  }

  #ping({ flags, bytes, from }: Frame): void {
    this.#floods.idleFrame()
    if ((flags & Flag.ack) === 0) this.#owner.sender.writer.pingAck(bytes, from)
    else this.#owner.pingAnswered()
  }

  #priority(frame: Frame): void {
    this.#floods.idleFrame()
    const code = priorityProblem(frame)
    if (code === undefined) return
    if (this.#streams.get(frame.streamId) === undefined) throw new ConnectionError(code, 'a PRIORITY frame is wrong')
    throw new StreamError(code, 'a PRIORITY frame is wrong')
  }
}
