import { createPublicKey, verify } from 'node:crypto'
import { Unfetched } from '../registry/download.ts'
import type { SumDb } from './settings.ts'

export interface TreeHead {
  size: number
  root: Buffer
}

/** The state of a database that it has signed (https://research.swtch.com/tlog). @throws Unfetched for what it has not signed. */
export function openTreeHead(note: string, db: SumDb): TreeHead {
  const end = note.lastIndexOf('\n\n')
  const text = note.slice(0, end + 1)
  const [, size, root] = /^go\.sum database tree\n(\d{1,15})\n([A-Za-z0-9+/]{43}=)\n/.exec(text) ?? []
  if (size === undefined || root === undefined || !isSigned(text, note.slice(end + 2), db))
    throw new Unfetched(`what came as an answer of the checksum database ${db.name} is not signed by it`)
  return { size: Number(size), root: Buffer.from(root, 'base64') }
}

function isSigned(text: string, signatures: string, { name, keyHash, key }: SumDb): boolean {
  const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: key.toString('base64url') }, format: 'jwk' })
  return signatures.split('\n').some((line) => {
    const [mark, signer, encoded = ''] = line.split(' ')
    const bytes = Buffer.from(encoded, 'base64')
    if (mark !== '—' || signer !== name || !bytes.subarray(0, 4).equals(keyHash)) return false
    return verify(null, Buffer.from(text), publicKey, bytes.subarray(4))
  })
}
