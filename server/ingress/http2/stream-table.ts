import type { Http2Stream } from './stream.ts'

/** How many streams that are over are remembered, to tell a late frame from a wrong one. */
const REMEMBERED = 256

/** What a stream id stands for: one that has not begun, one that is over, in order or by our reset, or one that was never used. */
export type StreamState = 'idle' | 'ended' | 'reset' | 'skipped'

/** The open streams of a connection, and those that were open lately. */
export class StreamTable {
  readonly #open = new Map<number, Http2Stream>()
  readonly #overIds = new Uint32Array(REMEMBERED)
  readonly #overStates: StreamState[] = []
  #overCount = 0
  #lastId = 0
  #lastTakenId = 0

  get size(): number {
    return this.#open.size
  }

  /** The largest id the client has used. */
  get lastId(): number {
    return this.#lastId
  }

  get(id: number): Http2Stream | undefined {
    return this.#open.get(id)
  }

  /** The largest id whose request may have been acted on. */
  get lastTakenId(): number {
    return this.#lastTakenId
  }

  /** The client has begun the stream of this id, even if it is refused. */
  begun(id: number): void {
    this.#lastId = id
    this.#lastTakenId = id
  }

  /** The client has begun a stream that it was told would not be taken: whatever comes for it is ignored. */
  ignored(id: number): void {
    this.#lastId = id
    this.remove(id, 'reset')
  }

  add(stream: Http2Stream): void {
    this.#open.set(stream.id, stream)
  }

  /** It is over. */
  remove(id: number, state: 'ended' | 'reset'): void {
    this.#open.delete(id)
    const place = this.#overCount++ % REMEMBERED
    this.#overIds[place] = id
    this.#overStates[place] = state
  }

  /** Of one that is not open. */
  stateOf(id: number): StreamState {
    if (id > this.#lastId) return 'idle'
    return this.#overStates[this.#overIds.lastIndexOf(id)] ?? 'skipped'
  }

  /** A copy, as handling one may end others. */
  all(): Http2Stream[] {
    return [...this.#open.values()]
  }
}
