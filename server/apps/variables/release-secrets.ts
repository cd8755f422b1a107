import { type Static, Type } from '@sinclair/typebox'
import { databaseProperties } from '../../../shared/env.ts'
import { OneOf } from '../../../shared/schema.ts'
import type { EnvEntry, SecretFileEntry } from '../services/env-store.ts'

/** What a release was made with: values as they were resolved then, and which of them came from groups. */
export const ReleaseSecrets = Type.Object({
  envVars: Type.Array(
    Type.Object({
      key: Type.String(),
      value: Type.String(),
      raw: Type.Optional(Type.String()),
      from: Type.Optional(Type.Object({ datastoreId: Type.String(), property: OneOf(databaseProperties) })),
      groupId: Type.Optional(Type.String()),
    }),
  ),
  secretFiles: Type.Array(Type.Object({ name: Type.String(), content: Type.String(), groupId: Type.Optional(Type.String()) })),
})
export type ReleaseSecrets = Static<typeof ReleaseSecrets>

/** The part that was the service's own, as it was set: what groups gave stays theirs. */
export function ownPart({ envVars, secretFiles }: ReleaseSecrets): { envVars: EnvEntry[]; secretFiles: SecretFileEntry[] } {
  return {
    envVars: envVars.filter(({ groupId }) => groupId === undefined).map(entryAsSet),
    secretFiles: secretFiles.filter(({ groupId }) => groupId === undefined).map(({ name, content }) => ({ name, content })),
  }
}

function entryAsSet({ key, value, raw, from }: ReleaseSecrets['envVars'][number]): EnvEntry {
  if (from !== undefined) return { key, value: '', from }
  return raw === undefined ? { key, value } : { key, value: raw, interpolate: true }
}
