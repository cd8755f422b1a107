import { deliverThroughKills } from '../support/webhook-kills.ts'
import { type Outcome, progress, secondsSince } from './outcome.ts'

/** `kill -9` of `cpd serve` again and again while it sends webhooks to a receiver that fails at random: every event arrives, with the same bytes each time. */
export async function webhookKills({ events, kills, seed }: { events: number; kills: number; seed: number }): Promise<Outcome> {
  const startedAt = performance.now()
  const { received, missing, altered, unverified, ...made } = await deliverThroughKills({ events, kills, seed, progress })
  return {
    summary: `${made.events} events, ${kills} kills, ${received} requests in ${secondsSince(startedAt)} s: ${missing.length} missing, ${altered.length} altered, ${unverified} unverified`,
    failures: [
      ...missing.map((id) => `${id} never came`),
      ...altered.map((id) => `${id} came with several bodies`),
      ...(unverified > 0 ? [`${unverified} signatures are not good`] : []),
    ],
  }
}
