/** OWASP's recommendation for argon2id: 19 MiB and two passes. Bun hashes on a thread of its own. */
export const passwordCost = { memoryKib: 19_456, passes: 2 }

const hashOptions = { algorithm: 'argon2id', memoryCost: passwordCost.memoryKib, timeCost: passwordCost.passes } as const

/** The hash of a password that nobody knows, at the present cost: what a login to an unknown account is measured against. */
export const unknownAccountHash =
  '$argon2id$v=19$m=19456,t=2,p=1$z0xpNOSTcN4WonvSdZ8NHySYzsjc22QiUBxFLdeyD34$4x0gWmvIocZcjHiCwJQvSV0amc824k/JbDpf6L1bhFE'

export const hashPassword = (password: string): Promise<string> => Bun.password.hash(password, hashOptions)

/** Whether the password is that of the account; takes as long for an account that does not exist. */
export async function verifyPassword(password: string, hash: string | undefined): Promise<boolean> {
  const isRight = await Bun.password.verify(password, hash ?? unknownAccountHash)
  return hash !== undefined && isRight
}

/** Whether the hash was made at another cost than today's. */
export const isStaleHash = (hash: string): boolean =>
  !hash.startsWith(`$argon2id$v=19$m=${passwordCost.memoryKib},t=${passwordCost.passes},p=1$`)
