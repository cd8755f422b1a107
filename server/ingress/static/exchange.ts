import type { ClientSide, Exchange, LocalHead } from '../exchange.ts'
import { fieldValue, type RequestHead } from '../message/request-head.ts'
import { type Page, pageResponse } from '../page.ts'
import { respond } from '../respond.ts'
import type { ByteRange } from './byte-range.ts'
import { acceptedEncodings } from './encoding.ts'
import type { SiteFile, StaticFiles } from './files.ts'
import { decodedPath, type Located, locate, type Site } from './locate.ts'
import { planReply, type Representation } from './reply.ts'
import { parseRequestPath } from './request-path.ts'

export interface StaticRequest {
  head: RequestHead
  client: ClientSide
  site: Site
}

const READ_BYTES = 128 * 1024

/** One request for a static site, answered out of its release. */
export class StaticExchange implements Exchange {
  readonly #files: StaticFiles
  readonly #head: RequestHead
  readonly #client: ClientSide
  readonly #site: Site
  #isGone = false
  #goOn: (() => void) | undefined

  /** A body means nothing here and is dropped. */
  readonly wantsBody = true

  constructor(files: StaticFiles, { head, client, site }: StaticRequest) {
    this.#files = files
    this.#head = head
    this.#client = client
    this.#site = site
  }

  start(): void {
    const path = parseRequestPath(this.#head.target)
    if (this.#head.method !== 'GET' && this.#head.method !== 'HEAD') {
      const text = `${this.#site.route.name} is a static site: it can only be read.`
      this.#page({ status: 405, title: 'Method Not Allowed', text }, [['Allow', 'GET, HEAD']])
      return
    }
    if (path === undefined) {
      this.#missing()
      return
    }
    this.#serve(path).catch((error) => this.#failed(error))
  }

  body(): void {}

  bodyPause(): void {}

  bodyEnd(): void {}

  clientDrained(): void {
    this.#goOn?.()
  }

  clientEnded(): void {
    this.clientGone()
  }

  clientGone(): void {
    this.#isGone = true
    this.#goOn?.()
  }

  async #serve(path: NonNullable<ReturnType<typeof parseRequestPath>>): Promise<void> {
    const located = await locate(this.#files, this.#site, path)
    if (located.kind === 'file') return this.#sendFile(await this.#represent(located), decodedPath(path))
    if (this.#isGone) return
    if (located.kind === 'missing') return this.#missing()
    const text = `See ${located.location}`
    this.#page({ status: located.status, title: 'Moved', text }, [['Location', located.location]])
  }

  async #represent({ file, status }: Extract<Located, { kind: 'file' }>): Promise<Representation> {
    const isPart = this.#field('range') !== undefined
    for (const encoding of isPart ? [] : acceptedEncodings(this.#field('accept-encoding'))) {
      const bytes = await this.#files.encoded(file, encoding)
      if (bytes !== undefined) return { file, status, encoded: { encoding, bytes } }
    }
    return { file, status, encoded: undefined }
  }

  async #sendFile(representation: Representation, path: string): Promise<void> {
    if (this.#isGone) return
    const conditions = {
      ifNoneMatch: this.#field('if-none-match'),
      ifModifiedSince: this.#field('if-modified-since'),
      ifRange: this.#field('if-range'),
    }
    const request = { method: this.#head.method, path, range: this.#field('range'), conditions }
    const { status, headers, range } = planReply(request, representation, this.#site.rules)
    const isKeptAlive = this.#client.keepsAlive
    const head: LocalHead = { status, headers, lengthBytes: range && range.end - range.start }
    const bytes = representation.encoded?.bytes ?? representation.file.bytes
    if (range === undefined || this.#head.method === 'HEAD') {
      this.#client.writeLocalHead(head, isKeptAlive)
    } else if (bytes !== undefined) {
      this.#client.hold()
      this.#client.writeLocalHead(head, isKeptAlive)
      this.#client.write(bytes, range.start, range.end)
      this.#client.release()
    } else {
      await this.#stream(representation.file, range, () => this.#client.writeLocalHead(head, isKeptAlive))
    }
    if (!this.#isGone) this.#client.finish(isKeptAlive)
  }

  async #stream(file: SiteFile, { start, end }: ByteRange, begin: () => void): Promise<void> {
    const handle = await this.#files.open(file)
    try {
      if (!this.#isGone) begin()
      for (let at = start; at < end && !this.#isGone; ) {
        const buffer = Buffer.allocUnsafe(Math.min(READ_BYTES, end - at))
        const { bytesRead } = await handle.read(buffer, 0, buffer.length, at)
        if (this.#isGone) return
        if (bytesRead === 0) throw new Error(`${file.path} is shorter than it was`)
        this.#client.write(buffer.subarray(0, bytesRead))
        at += bytesRead
        if (this.#client.isFull) await new Promise<void>((resolve) => (this.#goOn = resolve))
      }
    } finally {
      await handle.close()
    }
  }

  #field(name: string): string | undefined {
    return fieldValue(this.#head.fields, name)
  }

  #missing(): void {
    this.#page({ status: 404, title: 'Not Found', text: `${this.#site.route.name} has no such page.` }, [])
  }

  #page(page: Page, headers: [string, string][]): void {
    const response = pageResponse(page, this.#field('accept'))
    respond(this.#client, this.#head.method, { ...response, headers: [...headers, ...response.headers] })
  }

  /** What has begun as 200 cannot be made an error any more: the client must see that it is not whole. */
  #failed(error: unknown): void {
    this.#files.log(`${this.#site.route.name}: ${this.#head.target} could not be read: ${error instanceof Error ? error.message : error}`)
    if (!this.#isGone) this.#client.abort()
  }
}
