import { readFile } from 'node:fs/promises'

export type BuildEnv = Readonly<Record<string, string>>

/** What `fetch` is told beside an address: who asks, by which proxy, and whose certificates count. */
export type Way = (url: URL) => Promise<BunFetchRequestInit>

export interface NpmSettings {
  registry: string
  /** A file of certificates to believe in place of those that are built in; Bun itself adds those of NODE_EXTRA_CA_CERTS to these. */
  caFile: string | undefined
  proxy: string | undefined
  noProxy: string[]
  tokens: ReadonlyMap<string, string>
}

export const DEFAULT_REGISTRY = 'https://registry.npmjs.org/'

const TOKEN = /^npm_config_(\/\/.+):_authtoken$/

export function npmSettings(env: BuildEnv): NpmSettings {
  const settings = new Map(Object.entries(env).map(([name, value]) => [name.toLowerCase(), value]))
  const one = (name: string) => settings.get(`npm_config_${name}`) || undefined
  const registry = one('registry') ?? DEFAULT_REGISTRY
  return {
    registry: registry.endsWith('/') ? registry : `${registry}/`,
    caFile: one('cafile'),
    proxy: one('https_proxy') ?? one('proxy'),
    noProxy: (one('noproxy') ?? env.NO_PROXY ?? env.no_proxy ?? '').split(',').flatMap((host) => host.trim() || []),
    tokens: new Map([...settings].flatMap(([name, value]) => tokenOf(name, value))),
  }
}

function tokenOf(name: string, value: string): [string, string][] {
  const place = TOKEN.exec(name)?.[1]
  return place === undefined ? [] : [[place, value]]
}

/** The way to a registry of npm. A token goes to the place that it was given for, and nowhere else. */
export function npmWay(env: BuildEnv): Way {
  const settings = npmSettings(env)
  return (url) => fetchOptions(settings, url)
}

async function fetchOptions(settings: NpmSettings, url: URL): Promise<BunFetchRequestInit> {
  const token = [...settings.tokens].find(([place]) => `//${url.host}${url.pathname}`.startsWith(place))?.[1]
  const ca = settings.caFile === undefined ? undefined : await readFile(settings.caFile, 'utf8')
  return {
    ...(token !== undefined && { headers: { authorization: `Bearer ${token}` } }),
    ...(settings.proxy !== undefined && !isReachedDirectly(url.hostname, settings.noProxy) && { proxy: settings.proxy }),
    ...(ca !== undefined && url.protocol === 'https:' && { tls: { ca } }),
  }
}

const isReachedDirectly = (host: string, noProxy: readonly string[]): boolean =>
  noProxy.some((entry) => entry === '*' || host === entry.replace(/^\*?\./, '') || host.endsWith(`.${entry.replace(/^\*?\./, '')}`))
