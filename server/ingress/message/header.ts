export type Header = readonly [name: string, value: string]

/** The head of an answer of our own. */
export interface LocalHead {
  status: number
  headers: readonly Header[]
  /** Undefined for an answer that has no body by its status. */
  lengthBytes: number | undefined
  /** Headers and length in HTTP/1 form, of a head that is sent again and again. */
  lines?: string
}
