import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { BackupDamaged } from '../repository/pack.ts'

export const MANIFEST = 'backup_manifest'

const Manifest = Type.Object({
  'WAL-Ranges': Type.Array(Type.Object({ Timeline: Type.Integer(), 'Start-LSN': Type.String(), 'End-LSN': Type.String() }), {
    minItems: 1,
  }),
})

export interface WalRange {
  timeline: number
  startLsn: string
  endLsn: string
}

/** The part of the log that a backup needs to be consistent. @throws BackupDamaged for what is no manifest. */
export function walRangeOf(manifest: Uint8Array): WalRange {
  const parsed = parse(manifest)
  if (!Value.Check(Manifest, parsed)) throw new BackupDamaged('its manifest does not say which part of the log it needs')
  const ranges = parsed['WAL-Ranges']
  const [first, last] = [ranges[0], ranges.at(-1)]
  if (first === undefined || last === undefined) throw new BackupDamaged('its manifest names no part of the log')
  return { timeline: last.Timeline, startLsn: first['Start-LSN'], endLsn: last['End-LSN'] }
}

function parse(manifest: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(manifest))
  } catch (cause) {
    throw new BackupDamaged('its manifest cannot be read', cause)
  }
}
