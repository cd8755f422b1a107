import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto'

export interface KeyPair {
  publicKey: string
  privateKey: string
}

const TYPE = 'ssh-ed25519'
const BLOCK_BYTES = 8
const LINE_CHARS = /.{1,70}/g

/** A new pair in the form of OpenSSH's PROTOCOL.key, as its clients before 9.6 read no other one of Ed25519. */
export function newKeyPair(comment: string): KeyPair {
  const { x = '', d = '' } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })
  const [publicBytes, seed] = [Buffer.from(x, 'base64url'), Buffer.from(d, 'base64url')]
  const publicBlob = Buffer.concat([text(TYPE), field(publicBytes)])
  const check = randomBytes(4)
  const secret = Buffer.concat([check, check, publicBlob, field(Buffer.concat([seed, publicBytes])), text(comment)])
  const padding = Buffer.from(Array.from({ length: -secret.length & (BLOCK_BYTES - 1) }, (_, index) => index + 1))
  const unencrypted = [text('none'), text('none'), text('')]
  const file = [Buffer.from('openssh-key-v1\0'), ...unencrypted, uint32(1), field(publicBlob), field(Buffer.concat([secret, padding]))]
  return { publicKey: `${TYPE} ${publicBlob.toString('base64')} ${comment}`, privateKey: armoured(Buffer.concat(file)) }
}

/** The fingerprint that people compare, as `ssh-keygen -l` shows it. `publicKey` is its type and what follows, in base64. */
export function fingerprintOf(publicKey: string): string {
  const blob = Buffer.from(publicKey.split(' ')[1] ?? '', 'base64')
  return `SHA256:${createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')}`
}

function armoured(file: Buffer): string {
  const lines = file.toString('base64').match(LINE_CHARS) ?? []
  return ['-----BEGIN OPENSSH PRIVATE KEY-----', ...lines, '-----END OPENSSH PRIVATE KEY-----', ''].join('\n')
}

const text = (value: string): Buffer => field(Buffer.from(value))
const field = (value: Buffer): Buffer => Buffer.concat([uint32(value.length), value])

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}
