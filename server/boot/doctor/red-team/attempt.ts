/** One thing that must be refused. It returns what it got, in words that give away no content, or throws. */
export interface Attempt {
  what: string
  act(): unknown
}

export interface Try {
  id: string
  title: string
  guarantee: string
  attempts: readonly Attempt[]
}

export interface TryResult {
  id: string
  title: string
  guarantee: string
  attempted: number
  /** What succeeded, each with what was got; empty is what is wanted. */
  succeeded: string[]
}

const ATTEMPT_TIMEOUT_MS = 4000

export async function carryOut({ attempts, ...told }: Try): Promise<TryResult> {
  const outcomes = await Promise.all(attempts.map(outcomeOf))
  return { ...told, attempted: attempts.length, succeeded: outcomes.filter((one) => one !== undefined) }
}

async function outcomeOf({ what, act }: Attempt): Promise<string | undefined> {
  try {
    const got = await Promise.race([
      Promise.resolve().then(act),
      Bun.sleep(ATTEMPT_TIMEOUT_MS).then(() => Promise.reject(new Error('hangs'))),
    ])
    return `${what}: ${String(got)}`
  } catch {
    return undefined
  }
}

export function refuse(reason: string): never {
  throw new Error(reason)
}
