import { type Static, type TObject, Type } from '@sinclair/typebox'
import { json } from '../../../platform/db/json-column.ts'
import type { Sealer } from '../../../platform/secrets/seal.ts'

const PersonalSecrets = Type.Object({ token: Type.String(), webhookSecret: Type.String() })
const AppSecrets = Type.Object({ privateKey: Type.String(), webhookSecret: Type.String(), clientSecret: Type.String() })

interface Kept<T> {
  seal(sealer: Sealer, id: string, secrets: T): string
  open(sealer: Sealer, id: string, sealed: string): T
}

function keptAs<S extends TObject>(purpose: string, schema: S): Kept<Static<S>> {
  const codec = json({ schema })
  return {
    seal: (sealer, id, secrets) => sealer.seal(String(codec.write(secrets)), `${purpose}:${id}`),
    open: (sealer, id, sealed) => codec.read(sealer.open(sealed, `${purpose}:${id}`)),
  }
}

/** Secrets of an installation that a person's token makes, by the installation's id. */
export const personalSecrets = keptAs('source-host', PersonalSecrets)
/** Secrets of an app, by the id that GitHub gave it. */
export const appSecrets = keptAs('source-host-app', AppSecrets)
