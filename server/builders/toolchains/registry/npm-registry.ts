import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { type Fetching, fetchText, Unfetched } from './download.ts'
import { npmSettings, npmWay } from './way.ts'

export interface Dist {
  tarball: string
  integrity: string
}

const Version = Type.Object({ dist: Type.Object({ tarball: Type.String(), integrity: Type.Optional(Type.String()) }) })
const Package = Type.Object({ versions: Type.Record(Type.String(), Version) })

/** The list of a package with some hundred versions has 400 KB; reading more at once would hold up everybody. */
const MAX_LIST_BYTES = 2 * 1024 * 1024
const ABBREVIATED = 'application/vnd.npm.install-v1+json'

export async function packageVersions(name: string, fetching: Fetching): Promise<Record<string, Dist>> {
  const { registry } = npmSettings(fetching.env)
  const found = await ask(new URL(name, registry), Package, fetching)
  return Object.fromEntries(
    Object.entries(found.versions).flatMap(([version, { dist }]) => {
      const one = distOf(dist, registry)
      return /^\d+\.\d+\.\d+$/.test(version) && one !== undefined ? [[version, one]] : []
    }),
  )
}

export async function packageVersion(name: string, version: string, fetching: Fetching): Promise<Dist> {
  const { registry } = npmSettings(fetching.env)
  const url = new URL(`${name}/${version}`, registry)
  const found = distOf((await ask(url, Version, fetching)).dist, registry)
  if (found === undefined) throw new Unfetched(`${url.host} tells no hash of ${name} ${version}`)
  return found
}

async function ask<T extends typeof Package | typeof Version>(url: URL, schema: T, fetching: Fetching): Promise<Static<T>> {
  const text = await fetchText(url, { ...fetching, way: npmWay(fetching.env), accept: ABBREVIATED, mostBytes: MAX_LIST_BYTES })
  const found: unknown = parse(text)
  if (!Value.Check(schema, found)) throw new Unfetched(`${url.host} answered with something that is no package of npm`)
  return found
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Mirrors hand on the addresses of the registry that they mirror: as npm does, their own place is put there. */
function distOf({ tarball, integrity = '' }: Static<typeof Version>['dist'], registry: string): Dist | undefined {
  const own = tarball.replace(/^https?:\/\/registry\.npmjs\.org\//, registry)
  return integrity.includes('sha512-') && /^https?:\/\//.test(own) ? { tarball: own, integrity } : undefined
}
