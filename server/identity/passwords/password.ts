import { availableParallelism } from 'node:os'
import { createHashQueue, type Standing } from './hash-queue.ts'

/** OWASP's recommendation for argon2id: 19 MiB and two passes. Bun hashes on a thread of its own. */
export const passwordCost = { memoryKib: 19_456, passes: 2 }

const hashOptions = { algorithm: 'argon2id', memoryCost: passwordCost.memoryKib, timeCost: passwordCost.passes } as const

/** Half of the cores stay free for requests that need no password; 64 waiting ones are a second or two of work. */
export const hashLimits = { running: Math.max(1, Math.floor(availableParallelism() / 2)), waiting: 64 }

const inTurn = createHashQueue(hashLimits)

/** A login to an unknown account is measured against this hash. */
export const unknownAccountHash =
  '$argon2id$v=19$m=19456,t=2,p=1$z0xpNOSTcN4WonvSdZ8NHySYzsjc22QiUBxFLdeyD34$4x0gWmvIocZcjHiCwJQvSV0amc824k/JbDpf6L1bhFE'

export const hashPassword = (password: string): Promise<string> => inTurn(() => Bun.password.hash(password, hashOptions))

/** Takes as long for an account that does not exist, or has no password. @throws AppError `unavailable` while too many others wait. */
export async function verifyPassword(password: string, hash: string | undefined, who: Standing = 'stranger'): Promise<boolean> {
  const isRight = await inTurn(() => Bun.password.verify(password, hash || unknownAccountHash), who)
  return Boolean(hash) && isRight
}

export const isStaleHash = (hash: string): boolean =>
  !hash.startsWith(`$argon2id$v=19$m=${passwordCost.memoryKib},t=${passwordCost.passes},p=1$`)
