import type { ClientSide, Exchange } from '../exchange/exchange.ts'
import { type Page, pageResponse } from '../exchange/page.ts'
import { respond } from '../exchange/respond.ts'
import { fieldValue, type RequestHead } from '../message/request-head.ts'
import { type Asked, readAsked } from './asked.ts'
import { type Body, KeptBody, ReadBody } from './body.ts'
import { acceptedCodings } from './encoding.ts'
import type { StaticFiles } from './files.ts'
import { type Form, keptForm, loadForm, type Wanted } from './form.ts'
import { decodedPath, type KnownFile, locate, remember, type Site } from './locate.ts'
import { chooseReply, type FormReplies, formReplies } from './reply.ts'
import { parseRequestPath, pathOf } from './request-path.ts'

export interface StaticRequest {
  head: RequestHead
  client: ClientSide
  site: Site
}

const A_PART: Wanted = { codings: ['identity'], isWhole: false }

export class StaticExchange implements Exchange {
  readonly #files: StaticFiles
  readonly #head: RequestHead
  readonly #client: ClientSide
  readonly #site: Site
  readonly #asked: Asked
  #body: Body | undefined
  #isGone = false

  readonly wantsBody = true

  constructor(files: StaticFiles, { head, client, site }: StaticRequest) {
    this.#files = files
    this.#head = head
    this.#client = client
    this.#site = site
    this.#asked = readAsked(head)
  }

  start(): void {
    const { method, target } = this.#head
    if (method !== 'GET' && method !== 'HEAD') {
      const text = `${this.#site.route.name} is a static site: it can only be read.`
      this.#page({ status: 405, title: 'Method Not Allowed', text }, [['Allow', 'GET, HEAD']])
      return
    }
    const known = this.#site.known.get(pathOf(target))
    const form = known && keptForm(this.#files, known.file, this.#wanted)
    if (known !== undefined && form !== undefined) this.#send(known, form)
    else this.#find(target, known).catch((error) => this.#failed(error))
  }

  body(): void {}

  bodyPause(): void {}

  bodyEnd(): void {}

  clientDrained(): void {
    this.#body?.goOn()
  }

  clientEnded(): void {
    this.clientGone()
  }

  clientGone(): void {
    this.#isGone = true
    this.#body?.stop()
  }

  get #wanted(): Wanted {
    const { range, acceptEncoding, ifNoneMatch, ifModifiedSince } = this.#asked
    if (range !== undefined) return A_PART
    const isWhole = this.#head.method === 'GET' && ifNoneMatch === undefined && ifModifiedSince === undefined
    return { codings: acceptedCodings(acceptEncoding), isWhole }
  }

  async #find(target: string, known: KnownFile | undefined): Promise<void> {
    const file = known ?? (await this.#locate(target))
    if (file === undefined || this.#isGone) return
    const form = await loadForm(this.#files, file.file, this.#wanted)
    if (!this.#isGone) this.#send(file, form)
  }

  async #locate(target: string): Promise<KnownFile | undefined> {
    const path = parseRequestPath(target)
    const located = path && (await locate(this.#files, this.#site, path))
    if (this.#isGone) return undefined
    if (path === undefined || located === undefined || located.kind === 'missing') {
      this.#page({ status: 404, title: 'Not Found', text: `${this.#site.route.name} has no such page.` }, [])
      return undefined
    }
    if (located.kind === 'redirect') {
      this.#page({ status: located.status, title: 'Moved', text: `See ${located.location}` }, [['Location', located.location]])
      return undefined
    }
    const file: KnownFile = { file: located.file, status: located.status, path: decodedPath(path), replies: new Map() }
    remember(this.#site, pathOf(target), file)
    return file
  }

  #send(known: KnownFile, form: Form): void {
    const client = this.#client
    const isKeptAlive = client.keepsAlive
    const { head, range } = chooseReply(this.#repliesOf(known, form), this.#head.method, this.#asked)
    if (range === undefined || range.end === range.start || this.#head.method === 'HEAD') {
      client.writeLocalHead(head, isKeptAlive)
      client.finish(isKeptAlive)
      return
    }
    const sending = { client, head, isKeptAlive, range }
    if (form.pieces !== undefined) {
      const body = new KeptBody(sending, form.pieces, this.#files.holdings)
      this.#body = body
      body.start()
    } else {
      const body = new ReadBody(sending, this.#files.openFiles, this.#files.readable(known.file))
      this.#body = body
      body.send().catch((error) => this.#failed(error))
    }
  }

  #repliesOf({ file, status, path, replies }: KnownFile, { coding, sizeBytes }: Form): FormReplies {
    const known = replies.get(coding)
    if (known !== undefined) return known
    const made = formReplies({ file, status, path, coding, sizeBytes }, this.#site.rules)
    replies.set(coding, made)
    return made
  }

  #page(page: Page, headers: [string, string][]): void {
    const response = pageResponse(page, fieldValue(this.#head.fields, 'accept'))
    respond(this.#client, this.#head.method, { ...response, headers: [...headers, ...response.headers] })
  }

  /** What has begun as 200 cannot be made an error any more: the client must see that it is not whole. */
  #failed(error: unknown): void {
    this.#files.log(`${this.#site.route.name}: ${this.#head.target} could not be read: ${error instanceof Error ? error.message : error}`)
    if (!this.#isGone) this.#client.abort()
  }
}
