/** RFC 7541 section 4.1: what a field counts beyond its characters. */
const FIELD_OVERHEAD_BYTES = 32

/**
 * One field as it was decoded; its strings hold a byte in each character. A field of a table is the same object whenever it is named,
 * so what was found out about it once is kept with it.
 */
export class HeaderField {
  readonly name: string
  readonly value: string
  /** What whoever reads requests has found out about it. */
  reading: FieldReading | undefined

  constructor(name: string, value: string) {
    this.name = name
    this.value = value
  }

  get sizeBytes(): number {
    return this.name.length + this.value.length + FIELD_OVERHEAD_BYTES
  }
}

export type FieldKind = 'pseudo' | 'host' | 'cookie' | 'content-length' | 'plain'

export interface FieldReading {
  kind: FieldKind
  /** As it stands in an HTTP/1 head. */
  line: string
}
