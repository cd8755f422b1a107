/**
 * Whether a record stands in the Merkle tree of a checksum database: its hash and those beside its way up have to give the root that was
 * signed (https://www.rfc-editor.org/rfc/rfc6962#section-2.1). They come in tiles of eight levels (https://go.dev/design/25530-sumdb).
 */
import { createHash } from 'node:crypto'
import type { TreeHead } from './signed-tree.ts'

const TILE_LEVELS = 8
const TILE_WIDTH = 2 ** TILE_LEVELS
const HASH_BYTES = 32

export interface Tile {
  level: number
  index: number
  /** How many hashes it has: fewer than 256 only at the edge of the tree. */
  width: number
}

export const tilePath = ({ level, index, width }: Tile): string =>
  `tile/${TILE_LEVELS}/${level}/${groupsOf(index)}${width < TILE_WIDTH ? `.p/${width}` : ''}`

/** Groups of three digits, each but the last with an x before it. */
function groupsOf(index: number): string {
  const digits = String(index)
  const groups = digits.padStart(Math.ceil(digits.length / 3) * 3, '0').match(/.../g) ?? []
  return groups.map((group, at) => (at < groups.length - 1 ? `x${group}` : group)).join('/')
}

interface Record {
  id: number
  text: string
}

type ReadTile = (tile: Tile) => Promise<Buffer>

export async function isInTree({ id, text }: Record, { size, root }: TreeHead, readTile: ReadTile): Promise<boolean> {
  if (id < 0 || id >= size) return false
  const tiles = new Map<string, Promise<Buffer>>()
  const leaf = hashOf(0, Buffer.from(text))

  const rootOf = async (from: number, count: number): Promise<Buffer> => {
    if (from === id && count === 1) return leaf
    const isWhole = Number.isInteger(Math.log2(count)) && from % count === 0
    if (isWhole && (id < from || id >= from + count)) return await stored(Math.log2(count), from / count)
    const left = 2 ** Math.floor(Math.log2(count - 1))
    return hashOf(1, await rootOf(from, left), await rootOf(from + left, count - left))
  }

  const stored = async (level: number, index: number): Promise<Buffer> => {
    const above = level % TILE_LEVELS
    const tileLevel = (level - above) / TILE_LEVELS
    const first = index * 2 ** above
    const tileIndex = Math.floor(first / TILE_WIDTH)
    const width = Math.min(TILE_WIDTH, Math.floor(size / TILE_WIDTH ** tileLevel) - tileIndex * TILE_WIDTH)
    const bytes = await tileOf({ level: tileLevel, index: tileIndex, width })
    const start = (first % TILE_WIDTH) * HASH_BYTES
    return join(bytes.subarray(start, start + 2 ** above * HASH_BYTES))
  }

  const tileOf = (tile: Tile): Promise<Buffer> => {
    const path = tilePath(tile)
    const known = tiles.get(path) ?? readTile(tile)
    tiles.set(path, known)
    return known
  }

  return (await rootOf(0, size)).equals(root)
}

function join(hashes: Buffer): Buffer {
  if (hashes.length <= HASH_BYTES) return hashes
  const half = hashes.length / 2
  return hashOf(1, join(hashes.subarray(0, half)), join(hashes.subarray(half)))
}

const hashOf = (kind: 0 | 1, ...parts: readonly Buffer[]): Buffer => {
  const hash = createHash('sha256').update(Buffer.from([kind]))
  for (const part of parts) hash.update(part)
  return hash.digest()
}
