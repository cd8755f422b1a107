import type { Activator } from '../activator/activator.ts'
import type { ClientSide, Exchange } from '../exchange/exchange.ts'
import { type Page, pageResponse } from '../exchange/page.ts'
import type { RequestNote } from '../exchange/request-note.ts'
import { respond } from '../exchange/respond.ts'
import { fieldValue, type RequestHead } from '../message/request-head.ts'
import { answerOf, type CompiledPolicy, compilePolicy, headersOf, NO_HEADERS, type PolicyRequest } from '../rules/policy.ts'
import { StaticExchange } from '../static/exchange.ts'
import type { StaticFiles } from '../static/files.ts'
import { createSite, type Site } from '../static/locate.ts'
import type { ProxyTarget } from '../tables/proxy-target.ts'
import { EMPTY_ROUTE_TABLE, type Route, type RouteTable } from '../tables/route-table.ts'
import { ProxyExchange } from '../upstream/exchange.ts'
import type { ProxyContext } from '../upstream/proxy-context.ts'
import { ApiRequestLimits } from './api-request-limits.ts'

const SUSPENDED_RETRY_SECONDS = 3600
const UNAVAILABLE_RETRY_SECONDS = 5

export interface RouterParts {
  proxy: ProxyContext
  files: StaticFiles
  activator: Activator
  isTrusted: (address: string) => boolean
}

interface Served {
  route: Route
  policy: CompiledPolicy | undefined
  site: Site | undefined
}

/** Finds who answers a request. The table is replaced as a whole: each request sees one version of it from its beginning to its end. */
export class Router {
  readonly #parts: RouterParts
  readonly #apiRequestLimits: ApiRequestLimits
  #routes: ReadonlyMap<string, Route> = new Map()
  #served = new Map<string, Served>()
  #version = EMPTY_ROUTE_TABLE.version
  #reportedLeftOut: ReadonlySet<string> = new Set()
  readonly #targetsOf = (host: string): readonly ProxyTarget[] => {
    const route = this.#routes.get(host)
    return route?.kind === 'proxy' ? route.targets : []
  }

  constructor(parts: RouterParts) {
    this.#parts = parts
    this.#apiRequestLimits = new ApiRequestLimits(parts.proxy.limits, parts.isTrusted)
  }

  get routes(): ReadonlyMap<string, Route> {
    return this.#routes
  }

  get version(): number {
    return this.#version
  }

  apply(table: RouteTable): void {
    this.#parts.proxy.targets.apply(table)
    this.#routes = new Map(Object.entries(table.hosts))
    const before = this.#served
    this.#served = new Map(Object.entries(table.hosts).map(([host, route]) => [host, preparedFrom(before.get(host), route)]))
    this.#version = table.version
    this.#reportLeftOut()
    this.#parts.activator.follow((host) => this.#routes.get(host)?.kind === 'asleep')
  }

  answer(head: RequestHead, client: ClientSide): Exchange | undefined {
    const served = this.#served.get(head.host)
    const route = served?.route
    if (route !== undefined) client.note.serviceId = route.serviceId
    const policy = served?.policy
    if (policy !== undefined && this.#isAnsweredBy(policy, { name: route?.name ?? '', head, client })) return undefined
    if (route?.kind === 'proxy') {
      if (route.proof !== undefined && !this.#apiRequestLimits.admit(head, client)) {
        respond(client, head.method, pageResponse(tooMany(route), fieldValue(head.fields, 'accept')))
        return undefined
      }
      const headers = policy === undefined ? NO_HEADERS : headersOf(policy, head)
      const { name, proof } = route
      const exchange = new ProxyExchange(this.#parts.proxy, { head, client, name, headers, proof, targetsOf: this.#targetsOf })
      exchange.start()
      return exchange
    }
    if (route?.kind === 'asleep') {
      const { serviceId, name } = route
      return this.#parts.activator.hold({ head, client, serviceId, name, answer: () => this.answer(head, client) })
    }
    if (served?.site !== undefined) {
      const exchange = new StaticExchange(this.#parts.files, { head, client, site: served.site })
      exchange.start()
      return exchange
    }
    respond(client, head.method, pageResponse(pageFor(route, head.host), fieldValue(head.fields, 'accept')))
    return undefined
  }

  finished(note: RequestNote): void {
    this.#apiRequestLimits.release(note)
  }

  /** Once for each service and what is wrong with it: a table comes with each change of any service. */
  #reportLeftOut(): void {
    const lines = new Set<string>()
    for (const { route, policy, site } of this.#served.values()) {
      const [first, ...others] = [...(policy?.rules.leftOut ?? []), ...(site?.rules.leftOut ?? [])]
      if (first !== undefined)
        lines.add(`${route.serviceId}: the patterns of its rules are too long together, so ${first} and ${others.length} more are left out`)
    }
    for (const line of lines) if (!this.#reportedLeftOut.has(line)) this.#parts.proxy.log(line)
    this.#reportedLeftOut = lines
  }

  #isAnsweredBy(policy: CompiledPolicy, request: Omit<PolicyRequest, 'isTrusted'>): boolean {
    const answer = answerOf(policy, { ...request, isTrusted: this.#parts.isTrusted })
    if (answer !== undefined) respond(request.client, request.head.method, answer)
    return answer !== undefined
  }
}

/** A route that has stayed the same object keeps what was made of it. */
const preparedFrom = (before: Served | undefined, route: Route): Served => (before?.route === route ? before : prepare(route))

const prepare = (route: Route): Served => ({
  route,
  policy: route.policy && compilePolicy(route.policy),
  site: route.kind === 'static' ? createSite(route) : undefined,
})

const tooMany = ({ name }: Route): Page => ({
  status: 429,
  title: 'Too Many Requests',
  text: `${name} answers too many requests of your address already. Try again when some are over.`,
  retryAfterSeconds: UNAVAILABLE_RETRY_SECONDS,
})

function pageFor(route: Route | undefined, host: string): Page {
  if (route === undefined) {
    return { status: 404, title: 'Not Found', text: `Nothing is deployed at ${host}. Check the name, or deploy a service there.` }
  }
  if (route.kind === 'suspended') {
    const text = `${route.name} has been suspended. It answers again once it is resumed.`
    return { status: 503, title: 'Service Suspended', text, retryAfterSeconds: SUSPENDED_RETRY_SECONDS }
  }
  if (route.kind === 'unavailable' && route.isUndeployed) {
    const text = `${route.name} has never been live: no deploy of it has succeeded so far. The log of its latest deploy tells why.`
    return { status: 503, title: 'Not Deployed', text, retryAfterSeconds: SUSPENDED_RETRY_SECONDS }
  }
  const text = `${route.name} is not live yet, or one release is just taking the place of another. Try again in a moment.`
  return { status: 503, title: 'Service Unavailable', text, retryAfterSeconds: UNAVAILABLE_RETRY_SECONDS }
}
