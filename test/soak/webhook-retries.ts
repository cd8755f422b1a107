import { startCompiled } from '../support/compiled.ts'
import { isVerified, startReceiver } from '../support/hook-receiver.ts'
import { until } from '../support/until.ts'
import { type Outcome, progress } from './outcome.ts'

/** What each pause may be, in seconds: up to a tenth longer by chance, and a little for the way. */
const pauses: readonly [number, number][] = [
  [5, 6.5],
  [300, 332],
]
const TIMEOUT_MS = 400_000

/** The first three attempts in real time, on the executable. */
export async function webhookRetries(): Promise<Outcome> {
  const receiver = startReceiver()
  const cpd = await startCompiled({ env: { CP_OUTGOING_ALLOW: '127.0.0.0/8' } })
  const times: number[] = []
  receiver.answer(() => {
    times.push(performance.now())
    progress(`attempt ${times.length}`)
    return new Response(null, { status: times.length < 3 ? 500 : 204 })
  })
  try {
    const settings = { name: 'hook', url: receiver.url, eventFilter: ['service_created'] }
    const { body: webhook } = await cpd.api<{ id: string; secret: string }>('/webhooks', { json: settings })
    await cpd.api('/services', { json: { type: 'web_service', name: 'web' } })
    await until('three attempts have been made', () => times.length === 3, TIMEOUT_MS)
    const seconds = times.slice(1).map((at, index) => (at - (times[index] ?? 0)) / 1000)
    const failures = pauses.flatMap(([least, most], index) => {
      const pause = seconds[index] ?? 0
      return pause >= least && pause <= most ? [] : [`pause ${index + 1} was ${pause.toFixed(1)} s, not ${least} to ${most}`]
    })
    if (new Set(receiver.received.map(({ body }) => body)).size !== 1) failures.push('the bodies differ')
    if (!receiver.received.every((got) => isVerified(webhook.secret, got))) failures.push('a signature is not good')
    return { summary: `pauses of ${seconds.map((pause) => pause.toFixed(1)).join(' and ')} s`, failures }
  } finally {
    await cpd.stop()
    receiver.close()
  }
}
