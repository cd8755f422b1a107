const SESSION_TOKEN_BYTES = 32

/** A new session token: 256 random bits. */
export const newSessionToken = (): string => Buffer.from(crypto.getRandomValues(new Uint8Array(SESSION_TOKEN_BYTES))).toString('base64url')

/** The form in which tokens are stored and looked up. They are random, so one round of SHA-256 is enough. */
export const hashToken = (token: string): string => new Bun.CryptoHasher('sha256').update(token).digest('hex')
