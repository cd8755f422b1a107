/** How a dump is packed, and what it is then, out of its first bytes. */
export const HEAD_BYTES = 512

export type DumpFormat = 'custom' | 'tar' | 'sql'

const startsWith = (head: Uint8Array, magic: readonly number[]) => magic.every((byte, index) => head[index] === byte)

export function packingOf(head: Uint8Array): 'gzip' | 'zstd' | undefined {
  if (startsWith(head, [0x1f, 0x8b])) return 'gzip'
  return startsWith(head, [0x28, 0xb5, 0x2f, 0xfd]) ? 'zstd' : undefined
}

/** Undefined for what is none of them: other files are full of what no text has. */
export function formatOf(head: Uint8Array): DumpFormat | undefined {
  const text = Buffer.from(head)
  if (text.subarray(0, 5).toString('latin1') === 'PGDMP') return 'custom'
  if (text.subarray(257, 262).toString('latin1') === 'ustar') return 'tar'
  return text.length === 0 || text.some((byte) => byte < 9 || (byte > 13 && byte < 32 && byte !== 27)) ? undefined : 'sql'
}
