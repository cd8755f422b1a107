const STEP_LIMIT_MS = 120_000

/** Takes the steps in turn, all of them whatever becomes of one. @throws naming each that failed or did not end in time. */
export async function closeInTurn(steps: Record<string, () => unknown>): Promise<void> {
  const failures: Error[] = []
  for (const [name, step] of Object.entries(steps)) {
    await endsInTime(name, step).catch((cause: unknown) => failures.push(new Error(`While closing, ${name} failed: ${cause}`, { cause })))
  }
  if (failures.length === 1) throw failures[0]
  if (failures.length > 1) throw new AggregateError(failures, failures.map(({ message }) => message).join('\n'))
}

async function endsInTime(name: string, step: () => unknown): Promise<void> {
  const { promise: tooLate, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`${name} took longer than ${STEP_LIMIT_MS / 1000} s`)), STEP_LIMIT_MS)
  try {
    await Promise.race([step(), tooLate])
  } finally {
    clearTimeout(timer)
  }
}
