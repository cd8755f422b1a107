import type { CustomDomain } from '../../shared/custom-domain.ts'
import { CliError } from '../base/error.ts'
import { sleep } from '../base/sleep.ts'
import type { Context } from '../session/context.ts'
import { clean } from '../terminal/text.ts'

/** How often it is asked whether a look is over, and how long to wait before the next look; in milliseconds. */
const POLL_MS = 500
const NEXT_LOOK_MS = 10_000

interface Awaited {
  params: { serviceId: string; domainId: string }
  timeoutMs: number
}

/** Waits until DNS proves the domain. @throws CliError with what was found last when the time is over, Interrupted on Ctrl-C. */
export async function awaitVerification(context: Context, { params, timeoutMs }: Awaited): Promise<CustomDomain> {
  const endsAt = performance.now() + timeoutMs
  let told = ''
  for (;;) {
    await context.client.call('verifyCustomDomain', { params })
    const domain = await lookOver(context, { params, timeoutMs: endsAt - performance.now() })
    const message = domain.lastCheck?.message ?? 'DNS was not looked at yet.'
    if (domain.verificationStatus === 'verified') return domain
    if (performance.now() + NEXT_LOOK_MS > endsAt) throw notVerified(domain, message)
    if (message !== told && !context.isJson) context.note(clean`${message}`)
    told = message
    await pause(context, NEXT_LOOK_MS)
  }
}

/** The domain after the look that was asked for, or as it is when the time is over. */
async function lookOver(context: Context, { params, timeoutMs }: Awaited): Promise<CustomDomain> {
  const endsAt = performance.now() + timeoutMs
  for (;;) {
    const domain = await context.client.call('getCustomDomain', { params })
    if (!domain.isCheckPending || performance.now() > endsAt) return domain
    await pause(context, POLL_MS)
  }
}

async function pause({ io }: Context, ms: number): Promise<void> {
  await sleep(ms, io.interrupted)
  io.interrupted.throwIfAborted()
}

const notVerified = ({ name, server }: CustomDomain, message: string): CliError =>
  new CliError('conflict', clean`${name} is not verified. ${message}`, {
    hint: clean`Records may take a while to be known everywhere; it is looked at again by itself. See cpctl domains list ${server.name}.`,
  })
