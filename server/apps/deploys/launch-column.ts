import { Type } from '@sinclair/typebox'
import { OneOf } from '../../../shared/schema.ts'
import { runtimes } from '../../../shared/service-details.ts'
import type { Launch } from '../../builders/launch.ts'
import type { Codec } from '../../platform/db/codec.ts'
import { json } from '../../platform/db/json-column.ts'

/** A stack of the host is kept in two members of its own, as executables that an upgrade goes back to know no other. */
const keptLaunch = json({
  schema: Type.Object({
    runtime: OneOf([...runtimes, 'shell', 'static']),
    startCommand: Type.String(),
    appDir: Type.Optional(Type.String()),
    env: Type.Record(Type.String(), Type.String()),
    pathEntries: Type.Array(Type.String()),
    readOnlyBinds: Type.Array(Type.String()),
  }),
})

export const launchColumn: Codec<Launch> = {
  read(stored) {
    const { pathEntries, readOnlyBinds, ...launch } = keptLaunch.read(stored)
    return { ...launch, stack: { kind: 'host', folders: readOnlyBinds, searchPath: pathEntries } }
  },
  write({ stack, ...launch }) {
    return keptLaunch.write({ ...launch, pathEntries: [...stack.searchPath], readOnlyBinds: [...stack.folders] })
  },
}
