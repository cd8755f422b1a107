import type { ProxyTarget } from '../../server/ingress/tables/proxy-target.ts'
import type { Route } from '../../server/ingress/tables/route-table.ts'
import type { Dial } from '../../server/platform/network/dial.ts'
import type { RecordingIngress } from './recording-ingress.ts'

export interface Answer {
  status: number
  text: string
}

interface Ways {
  ingress: RecordingIngress
  dial: Dial
  domain: string
}

/** What an ingress answers in the place of a service that it leads nobody to. */
const statusInPlace: Record<Exclude<Route['kind'], 'proxy' | 'static'>, number> = { suspended: 503, unavailable: 503, asleep: 503 }

/** Visits services by their names, whose instances take turns. */
export function visitor({ ingress, dial, domain }: Ways): (name: string, path?: string) => Promise<Answer> {
  let visits = 0
  return async (name, path = '/') => {
    const route = ingress.table.hosts[`${name}.${domain}`]
    if (route === undefined) return { status: 404, text: '' }
    if (route.kind === 'static') throw new Error(`${name} is files, which nobody serves here`)
    if (route.kind !== 'proxy') return { status: statusInPlace[route.kind], text: '' }
    const { targets } = route
    const first = visits++
    for (let turn = 0; turn < targets.length; turn++) {
      const target = targets[(first + turn) % targets.length]
      const end = ingress.underWay.take(target?.instanceId ?? '')
      const answer = await ask(dial, target, { host: `${name}.${domain}`, path }).finally(end)
      if (answer !== undefined) return answer
    }
    return { status: 502, text: '' }
  }
}

/** Undefined where nobody listens, in which case an ingress asks another. */
async function ask(dial: Dial, target: ProxyTarget | undefined, asked: { host: string; path: string }): Promise<Answer | undefined> {
  if (target === undefined) return undefined
  const { promise, resolve } = Promise.withResolvers<string>()
  let read = ''
  const on = {
    data: (bytes: Uint8Array) => {
      read += new TextDecoder().decode(bytes)
      resolve(read)
    },
    closed: () => resolve(read),
  }
  const connection = await dial({ hostname: target.host, port: target.port }, on).catch(() => undefined)
  if (connection === undefined) return undefined
  connection.write(`GET ${asked.path} HTTP/1.1\r\nHost: ${asked.host}\r\n\r\n`)
  const [head = '', text = ''] = (await promise).split('\r\n\r\n')
  connection.cut()
  return { status: Number(head.split(' ')[1] ?? 502), text }
}
