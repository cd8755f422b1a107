export type Header = readonly [name: string, value: string]

export interface LocalHead {
  status: number
  headers: readonly Header[]
  lengthBytes: number | undefined
  /** Headers and length in HTTP/1 form, of a head that is sent again and again. */
  lines?: string
}
