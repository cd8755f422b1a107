/** RFC 7541 section 4.1: what a field counts beyond its characters. */
const FIELD_OVERHEAD_BYTES = 32

/** A decoded field, a byte in each character. A field of a table is always the same object: what was found out about it is kept with it. */
export class HeaderField {
  readonly name: string
  readonly value: string
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
  line: string
}
