export async function within(ms: number, event: Promise<unknown>): Promise<void> {
  const late = Promise.withResolvers<void>()
  const timer = setTimeout(late.resolve, ms)
  await Promise.race([event, late.promise])
  clearTimeout(timer)
}
