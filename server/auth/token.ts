const TOKEN_BYTES = 32

/** A new secret that nobody guesses: 256 random bits in base64url, or as many as are wanted. */
export const newToken = (bytes = TOKEN_BYTES): string => Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString('base64url')

/** The form in which tokens are stored and looked up. They are random, so one round of SHA-256 is enough. */
export const hashToken = (token: string): string => new Bun.CryptoHasher('sha256').update(token).digest('hex')
