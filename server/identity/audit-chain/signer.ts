import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { existsSync } from 'node:fs'
import { AppError } from '../../../shared/error.ts'
import { replaceFileSync } from '../../platform/files/replace-file.ts'
import { readSecretFile } from '../../platform/files/secret-file.ts'

export interface AuditSigner {
  /** Ed25519 over the UTF-8 of `text`, base64. */
  sign(text: string): string
  publicKey: string
  isNew: boolean
}

/** No key of the master key's, so a backup may go without it. @throws AppError `unavailable` for a file without key or open to others. */
export function openAuditSigner(keyFile: string): AuditSigner {
  const isNew = !existsSync(keyFile)
  if (isNew) {
    replaceFileSync(keyFile, generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString())
  }
  return { ...signerWith(parseKey(readSecretFile(keyFile), keyFile)), isNew }
}

function parseKey(pem: string, keyFile: string): KeyObject {
  try {
    const key = createPrivateKey(pem)
    if (key.asymmetricKeyType === 'ed25519') return key
  } catch {}
  throw new AppError('unavailable', `${keyFile} holds no Ed25519 key. Restore it from a backup, or move it away to have a new one made.`)
}

const RAW_KEY_BYTES = 32

function signerWith(key: KeyObject): Omit<AuditSigner, 'isNew'> {
  const spki = createPublicKey(key).export({ type: 'spki', format: 'der' })
  return {
    sign: (text) => sign(null, Buffer.from(text), key).toString('base64'),
    publicKey: spki.subarray(-RAW_KEY_BYTES).toString('base64'),
  }
}
