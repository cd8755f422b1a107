import type { Database } from 'bun:sqlite'
import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { type AuditVerdict, createChainVerifier } from '../../../shared/audit-verifier.ts'
import { AppError } from '../../../shared/error.ts'
import { hashText } from './chain.ts'
import { chainsThereAre, entriesFrom, newestSequence, readHead } from './store.ts'

const BATCH_ENTRIES = 1000

export interface VerifiedChain extends AuditVerdict {
  workspaceId: string
}

/** Verifies every chain by a trusted public key (raw, base64). @throws AppError `bad_request` for text that is no such key. */
export function verifyDatabase(db: Database, publicKey: string): VerifiedChain[] {
  const key = parsePublicKey(publicKey)
  const isSigned = (text: string, signature: string) => verify(null, Buffer.from(text), key, Buffer.from(signature, 'base64'))
  return chainsThereAre(db).map((workspaceId) => {
    const proof = { hash: hashText, isSigned }
    const verifier = createChainVerifier({ ...proof, workspaceId, fromSequence: 1, newestSequence: newestSequence(db, workspaceId) })
    for (let from = Number.MIN_SAFE_INTEGER; ; ) {
      const entries = entriesFrom(db, workspaceId, { from, limit: BATCH_ENTRIES })
      for (const entry of entries) verifier.add(entry)
      const last = entries.at(-1)
      if (last === undefined) break
      from = last.sequence + 1
    }
    return { workspaceId, ...verifier.end(readHead(db, workspaceId)) }
  })
}

function parsePublicKey(publicKey: string): KeyObject {
  try {
    return createPublicKey({
      key: { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(publicKey, 'base64').toString('base64url') },
      format: 'jwk',
    })
  } catch (cause) {
    throw new AppError('bad_request', `${publicKey} is no public key of an audit log: 44 characters of base64.`, { cause })
  }
}
