import type { Http2Stream } from './stream.ts'

const REMEMBERED = 256

export type StreamState = 'idle' | 'ended' | 'reset' | 'skipped'

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

  get lastId(): number {
    return this.#lastId
  }

  get(id: number): Http2Stream | undefined {
    return this.#open.get(id)
  }

  get lastTakenId(): number {
    return this.#lastTakenId
  }

  begun(id: number): void {
    this.#lastId = id
    this.#lastTakenId = id
  }

  ignored(id: number): void {
    this.#lastId = id
    this.remove(id, 'reset')
  }

  add(stream: Http2Stream): void {
    this.#open.set(stream.id, stream)
  }

  remove(id: number, state: 'ended' | 'reset'): void {
    this.#open.delete(id)
    const place = this.#overCount++ % REMEMBERED
    this.#overIds[place] = id
    this.#overStates[place] = state
  }

  stateOf(id: number): StreamState {
    if (id > this.#lastId) return 'idle'
    return this.#overStates[this.#overIds.lastIndexOf(id)] ?? 'skipped'
  }

  all(): Http2Stream[] {
    return [...this.#open.values()]
  }
}
