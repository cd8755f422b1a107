const TOKEN_BYTES = 32

/** A new secret of 256 random bits in base64url. None begins with a hyphen, which command lines would take for an option. */
export function newToken(bytes = TOKEN_BYTES): string {
  const token = Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString('base64url')
  return token.startsWith('-') ? newToken(bytes) : token
}

/** Tokens are random, so one round of SHA-256 is enough. */
export const hashToken = (token: string): string => new Bun.CryptoHasher('sha256').update(token).digest('hex')
