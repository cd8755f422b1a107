import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { AppError } from '../../../shared/error.ts'
import { replaceFileSync } from '../files/replace-file.ts'
import { readSecretFile } from '../files/secret-file.ts'

const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16

export interface Sealer {
  /** AES-256-GCM of `text`, as `v1.<key id>.<base64>`; `purpose` names the row it belongs to and is authenticated with it. */
  seal(text: string, purpose: string): string
  /** @throws AppError internal when the text was sealed with another key, for another purpose, or altered. */
  open(sealed: string, purpose: string): string
}

/** Reads the master key, making it at first start. @throws AppError `unavailable` when it is missing or is not the one of `sealed`. */
export function openSealer(keyFile: string, sealed?: string): Sealer {
  if (!existsSync(keyFile)) {
    if (sealed !== undefined) {
      throw new AppError('unavailable', `${keyFile} is missing, and the database holds secrets encrypted with it. ${restoreKey}`)
    }
    replaceFileSync(keyFile, `${randomBytes(KEY_BYTES).toString('base64')}\n`)
  }
  const key = Buffer.from(readSecretFile(keyFile).trim(), 'base64')
  if (key.length !== KEY_BYTES)
    throw new AppError('unavailable', 'The master key file does not hold a key of 32 bytes in base64. Restore it from a backup.')
  if (sealed !== undefined && !sealed.startsWith(`v1.${keyIdOf(key)}.`)) {
    throw new AppError('unavailable', `The secrets in the database were encrypted with another key than that in ${keyFile}. ${restoreKey}`)
  }
  return createSealer(key)
}

const restoreKey = 'Put back the key file that belongs to this database, from a backup.'

const keyIdOf = (key: Buffer): string => createHash('sha256').update('key id').update(key).digest('hex').slice(0, 8)

export function createSealer(key: Buffer): Sealer {
  const keyId = keyIdOf(key)
  return {
    seal(text, purpose) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(purpose))
      const sealed = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
      return `v1.${keyId}.${sealed.toString('base64')}`
    },
    open(sealed, purpose) {
      const [version, id, body] = sealed.split('.')
      if (version !== 'v1' || id !== keyId || body === undefined) {
        throw new AppError(
          'internal',
          'A secret was encrypted with another master key. Put the key file back that the database was made with.',
        )
      }
      return decrypt(Buffer.from(body, 'base64'), key, purpose)
    },
  }
}

function decrypt(bytes: Buffer, key: Buffer, purpose: string): string {
  const nonce = bytes.subarray(0, NONCE_BYTES)
  // Text too short for a tag must not make a negative index, which would count from the end.
  const tag = bytes.subarray(Math.max(NONCE_BYTES, bytes.length - TAG_BYTES))
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(purpose)).setAuthTag(tag)
    return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, bytes.length - TAG_BYTES)), decipher.final()]).toString('utf8')
  } catch (cause) {
    throw new AppError('internal', 'A stored secret was altered or belongs elsewhere.', { cause })
  }
}
