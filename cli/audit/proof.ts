import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto'
import type { AuditProof } from '../../shared/audit-diagnosis.ts'
import { usageError } from '../base/error.ts'

/** SHA-256, and the signatures of one key. @throws CliError for text that is no raw Ed25519 public key in base64. */
export function proofOf(publicKey: string): AuditProof {
  const key = keyOf(publicKey)
  return {
    hash: (text) => createHash('sha256').update(text).digest('hex'),
    isSigned: (text, signature) => verify(null, Buffer.from(text), key, Buffer.from(signature, 'base64')),
  }
}

function keyOf(publicKey: string): KeyObject {
  try {
    const x = Buffer.from(publicKey, 'base64').toString('base64url')
    return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  } catch {
    throw usageError(`${publicKey} is no public key of an audit log.`, 'It is 44 characters of base64: cpctl audit verify prints it.')
  }
}
