/**
 * What a set says of itself at the bucket, so that it can be recovered where nothing else of its server is left. Whoever knows the recipient can
 * encrypt for it, so the description is authenticated with the identity; files are taken for what it names by their digests.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { BackupDamaged } from '../repository/pack.ts'
import { FormerLineage, Recipe } from '../rows/set-store.ts'

const Time = Type.Integer({ minimum: 0 })
const orNull = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) => Type.Union([schema, Type.Null()])

const DescribedBackup = Type.Object({
  id: Type.String({ pattern: '^bak-[0-9a-z]+$' }),
  /** Absent where there is but one, as in what earlier versions wrote. */
  lineage: Type.Optional(Type.Integer({ minimum: 0 })),
  kind: Type.Union([Type.Literal('full'), Type.Literal('incremental')]),
  parentId: orNull(Type.String()),
  origin: Type.Union([Type.Literal('scheduled'), Type.Literal('manual'), Type.Literal('final')]),
  timeline: orNull(Type.Integer()),
  startLsn: orNull(Type.String()),
  endLsn: orNull(Type.String()),
  createdAt: Time,
  completedAt: orNull(Time),
  plainBytes: orNull(Type.Integer()),
  verifiedAt: orNull(Time),
  drilledAt: orNull(Time),
  drillMs: orNull(Type.Integer()),
})

const DescribedObject = Type.Object({
  name: Type.String({ pattern: '^(?:[\\w-]+/)*[\\w-][\\w.-]*$', maxLength: 200 }),
  digest: Type.String({ pattern: '^[0-9a-f]{32}$' }),
  plainBytes: Type.Integer({ minimum: 0 }),
  packedBytes: Type.Integer({ minimum: 0 }),
  createdAt: Time,
})

const Description = Type.Object({
  /** The second may have several lineages, which earlier versions would take for one. */
  format: Type.Union([Type.Literal(1), Type.Literal(2)]),
  writtenAt: Time,
  logUntil: Time,
  set: Type.Object({
    datastoreId: Type.String({ pattern: '^(?:dpg-[0-9a-z]+-a|red-[0-9a-z]+)$' }),
    kind: Type.Union([Type.Literal('postgres'), Type.Literal('key_value')]),
    name: Type.String(),
    version: Type.String(),
    lineage: Type.Optional(Type.Integer({ minimum: 0 })),
    former: Type.Optional(Type.Array(FormerLineage)),
    recipient: Type.String(),
    recipe: Recipe,
    createdAt: Time,
  }),
  backups: Type.Array(DescribedBackup),
  objects: Type.Array(DescribedObject),
})
export type Description = Static<typeof Description>

const CONTEXT = 'cpd description of backups\n'

const proofOf = (identity: string, json: string): string => createHmac('sha256', identity).update(CONTEXT).update(json).digest('hex')

export function writeDescription(description: Description, identity: string): Buffer {
  const json = JSON.stringify(description)
  return Buffer.from(`${proofOf(identity, json)}\n${json}`)
}

/** @throws BackupDamaged for what none who has the identity wrote, and for what a later version did. */
export function readDescription(content: Buffer, identity: string): Description {
  const end = content.indexOf('\n')
  const [proof, json] = [content.subarray(0, Math.max(0, end)), content.subarray(end + 1).toString()]
  const wanted = Buffer.from(proofOf(identity, json))
  if (proof.length !== wanted.length || !timingSafeEqual(proof, wanted))
    throw new BackupDamaged('its description was not written by a server with this key')
  const description: unknown = JSON.parse(json)
  if (Value.Check(Description, description)) return description
  throw new BackupDamaged('its description is of another version of cpd')
}
