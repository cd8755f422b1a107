import type { FileHandle } from 'node:fs/promises'
import { readWhole } from './pieces.ts'

export interface Readable {
  key: string
  open(): Promise<FileHandle>
}

interface Entry {
  opened: Promise<FileHandle>
  users: number
}

/** Reads at a time: as many buffers there are, and no more descriptors than twice that. */
const MAX_READS = 32
const MAX_IDLE = 32
const IDLE_MS = 2000
export const BLOCK_BYTES = 256 * 1024

/**
 * Reads parts of files for whoever can send them at once. Buffers and descriptors belong to the reads that are going on, not to those
 * who wait for a client, so their number is the same for one client and for a hundred thousand.
 */
export class OpenFiles {
  readonly #entries = new Map<string, Entry>()
  readonly #blocks: Buffer[] = []
  readonly #queue: (() => void)[] = []
  #reading = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  get openCount(): number {
    return this.#entries.size
  }

  async read(file: Readable, { at, count }: { at: number; count: number }, use: (bytes: Buffer) => void): Promise<void> {
    if (this.#reading >= MAX_READS) await new Promise<void>((resolve) => this.#queue.push(resolve))
    else this.#reading++
    const block = this.#blocks.pop() ?? Buffer.allocUnsafeSlow(BLOCK_BYTES)
    try {
      const bytes = block.subarray(0, count)
      await this.#withHandle(file, (handle) => readWhole(handle, bytes, at))
      use(bytes)
    } finally {
      this.#blocks.push(block)
      const next = this.#queue.shift()
      if (next === undefined) this.#reading--
      else next()
    }
  }

  async #withHandle({ key, open }: Readable, use: (handle: FileHandle) => Promise<void>): Promise<void> {
    const entry = this.#entries.get(key) ?? { opened: open(), users: 0 }
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    entry.users++
    let isGood = false
    try {
      await use(await entry.opened)
      isGood = true
    } finally {
      entry.users--
      if (!isGood && this.#entries.get(key) === entry) this.#entries.delete(key)
      if (this.#entries.get(key) !== entry && entry.users === 0) close(entry)
      this.#closeIdle(MAX_IDLE)
    }
  }

  #closeIdle(kept: number): void {
    let idle = [...this.#entries.values()].filter(({ users }) => users === 0).length
    for (const [key, entry] of this.#entries) {
      if (idle <= kept) break
      if (entry.users > 0) continue
      this.#entries.delete(key)
      close(entry)
      idle--
    }
    if (this.#entries.size === 0 || this.#timer !== undefined) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#closeIdle(0)
    }, IDLE_MS)
    this.#timer.unref()
  }
}

function close({ opened }: Entry): void {
  opened.then((handle) => handle.close()).catch(() => undefined)
}
