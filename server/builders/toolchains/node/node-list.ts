import { Type } from '@sinclair/typebox'
import type { Fetching } from '../registry/download.ts'
import { keptList } from '../registry/kept-list.ts'
import { type Dist, packageVersions } from '../registry/npm-registry.ts'
import { npmSettings } from '../registry/way.ts'

const NODE_PACKAGE = `node-linux-${process.arch}`

const Versions = Type.Record(Type.String(), Type.Object({ tarball: Type.String(), integrity: Type.String() }))

type Versions = Record<string, Dist>

/** What the registry has of Node.js, as it told within the last hour. */
export const nodeVersions = (dir: string, fetching: Fetching, isEnough: (kept: Versions) => boolean): Promise<Versions> =>
  keptList({
    dir,
    name: NODE_PACKAGE,
    source: npmSettings(fetching.env).registry,
    schema: Versions,
    ask: () => packageVersions(NODE_PACKAGE, fetching),
    isEnough,
  })
