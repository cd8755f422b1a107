import type { ClientSide } from '../exchange/exchange.ts'
import type { RequestNote } from '../exchange/request-note.ts'
import { accessRecord, leftOutRecord } from './access-record.ts'
import { type AccessFileLimits, AccessWriter, defaultAccessFileLimits } from './access-writer.ts'

export interface AccessLogOptions {
  dir: string
  isTrusted(address: string): boolean
  log(line: string): void
  limits?: AccessFileLimits
}

const BATCH_BYTES = 64 * 1024
const BATCH_MS = 100
const ROOM_BYTES = 1024 * 1024
const TELL_EVERY_MS = 60_000

/**
 * Writes a line for each request of a service, for the control plane to take in. Requests do not wait for it: lines gather in one
 * room while another is being written, and what finds both full is counted and left out.
 */
export class AccessLog {
  readonly #writer: AccessWriter
  readonly #isTrusted: AccessLogOptions['isTrusted']
  readonly #log: AccessLogOptions['log']
  #room = Buffer.allocUnsafeSlow(ROOM_BYTES)
  #otherRoom = Buffer.allocUnsafeSlow(ROOM_BYTES)
  #usedBytes = 0
  readonly #leftOut = new Map<string, number>()
  #writing: Promise<void> | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #now = 0
  #nowText = ''
  #toldAt = Number.NEGATIVE_INFINITY

  constructor({ dir, isTrusted, log, limits = defaultAccessFileLimits }: AccessLogOptions) {
    this.#writer = new AccessWriter(dir, limits)
    this.#isTrusted = isTrusted
    this.#log = log
  }

  add(note: RequestNote, client: ClientSide, durationMs: number): void {
    if (note.serviceId === '') return
    this.addLine(note.serviceId, accessRecord({ note, client, at: this.#time(), durationMs, isTrusted: this.#isTrusted }))
  }

  /** A line in ASCII, of whatever kind, under the id of whom it is about. */
  addLine(serviceId: string, line: string): void {
    if (line.length > this.#room.length - this.#usedBytes) {
      this.#leaveOut(serviceId, 1)
      return
    }
    this.#usedBytes += this.#room.write(line, this.#usedBytes, 'latin1')
    if (this.#writing !== undefined) return
    if (this.#usedBytes >= BATCH_BYTES) this.#flush()
    else this.#timer ??= setTimeout(() => this.#flush(), BATCH_MS)
  }

  async close(): Promise<void> {
    while (this.#writing !== undefined || this.#usedBytes > 0) {
      this.#flush()
      await this.#writing
    }
    clearTimeout(this.#timer)
    await this.#writer.close()
  }

  #time(): string {
    const now = Date.now()
    if (now !== this.#now) {
      this.#now = now
      this.#nowText = String(now)
    }
    return this.#nowText
  }

  #leaveOut(serviceId: string, count: number): void {
    this.#leftOut.set(serviceId, (this.#leftOut.get(serviceId) ?? 0) + count)
  }

  #flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#writing !== undefined || this.#usedBytes === 0) return
    const batch = this.#room.subarray(0, this.#usedBytes)
    const room = this.#room
    this.#room = this.#otherRoom
    this.#otherRoom = room
    this.#usedBytes = 0
    this.#writing = this.#write(batch).then(() => this.#written())
  }

  #written(): void {
    this.#writing = undefined
    if (this.#usedBytes >= BATCH_BYTES) this.#flush()
    else if (this.#usedBytes > 0) this.#timer ??= setTimeout(() => this.#flush(), BATCH_MS)
  }

  async #write(batch: Buffer): Promise<void> {
    try {
      await this.#writer.append(batch)
    } catch (error) {
      for (const line of batch.toString('latin1').split('\n').slice(0, -1)) this.#leaveOut(line.split('\t', 2)[1] ?? '', 1)
      this.#reportFailure(error)
      return
    }
    await this.#reportLeftOut().catch((error) => this.#reportFailure(error))
  }

  async #reportLeftOut(): Promise<void> {
    if (this.#leftOut.size === 0) return
    const counts = [...this.#leftOut]
    await this.#writer.append(
      Buffer.from(counts.map(([serviceId, leftOut]) => leftOutRecord({ at: Date.now(), serviceId, leftOut })).join('')),
    )
    for (const [serviceId, count] of counts) {
      this.#leaveOut(serviceId, -count)
      if (this.#leftOut.get(serviceId) === 0) this.#leftOut.delete(serviceId)
    }
  }

  #reportFailure(error: unknown): void {
    if (performance.now() - this.#toldAt < TELL_EVERY_MS) return
    this.#toldAt = performance.now()
    this.#log(`The access log cannot be written, requests are left out of it: ${error instanceof Error ? error.message : error}`)
  }
}
