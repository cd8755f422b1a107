import { type Compiled, startCompiled } from './compiled.ts'
import { type HookReceiver, isVerified, type Received, startReceiver } from './hook-receiver.ts'
import { randomNumbers } from './random-numbers.ts'
import { until } from './until.ts'

export interface WebhookKills {
  events: number
  kills: number
  seed: number
  /** Says how far it is. */
  progress?(text: string): void
}

export interface WebhookKillsOutcome {
  events: number
  received: number
  /** Ids of events that never came. */
  missing: string[]
  /** Ids that came with more than one body. */
  altered: string[]
  /** How many requests the library of Standard Webhooks did not take. */
  unverified: number
}

/** One attempt in so many fails, each event at most once: a second pause would be of five minutes. */
const FAILS_ONE_IN = 4
const SERVICES = 5
const LONGEST_LIFE_MS = 1500
const DELIVERED_MS = 240_000

/** Makes events while `cpd serve` is killed again and again, and a receiver fails at random. Tells what came of it. */
export async function deliverThroughKills({ events, kills, seed, progress = () => {} }: WebhookKills): Promise<WebhookKillsOutcome> {
  const receiver = startReceiver()
  const cpd = await startCompiled({ env: { CP_OUTGOING_ALLOW: '127.0.0.0/8' } })
  try {
    failAtRandom(receiver, seed)
    const { body: webhook } = await cpd.api<{ secret: string }>('/webhooks', {
      json: { name: 'hook', url: receiver.url, eventFilter: ['instance_count_changed'] },
    })
    const making = makeEvents(cpd, events)
    const random = randomNumbers(seed + 1)
    for (let kill = 1; kill <= kills; kill++) {
      await Bun.sleep(random(LONGEST_LIFE_MS))
      await cpd.kill9()
      await cpd.start()
      progress(`kill ${kill}/${kills}, ${receiver.received.length} requests`)
    }
    await making
    const ids = await idsOfEvents(cpd)
    await until('all events have come', () => missingIn(ids, receiver.received).length === 0, DELIVERED_MS).catch(() => {})
    return judge(ids, receiver.received, webhook.secret)
  } finally {
    await cpd.stop()
    receiver.close()
  }
}

function failAtRandom(receiver: HookReceiver, seed: number): void {
  const random = randomNumbers(seed)
  const failed = new Set<string>()
  receiver.answer(({ id }) => {
    if (failed.has(id) || random(FAILS_ONE_IN) !== 0) return new Response(null, { status: 204 })
    failed.add(id)
    return new Response('not now', { status: 503 })
  })
}

/** Each service is scaled back and forth. What fails while nobody answers is done again. */
async function makeEvents(cpd: Compiled, count: number): Promise<void> {
  const each = Math.ceil(count / SERVICES)
  await Promise.all(
    Array.from({ length: SERVICES }, async (_, index) => {
      const { body } = await again(() =>
        cpd.api<{ service: { id: string } }>('/services', { json: { type: 'web_service', name: `web-${index}` } }),
      )
      for (let nth = 0; nth < each; nth++)
        await again(() => cpd.api(`/services/${body.service.id}/scale`, { json: { numInstances: 2 + (nth % 2) } }))
    }),
  )
}

async function again<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask()
    } catch {
      await Bun.sleep(50)
    }
  }
}

async function idsOfEvents(cpd: Compiled): Promise<string[]> {
  const ids: string[] = []
  for (let cursor = ''; ; ) {
    const path = `/events?type=instance_count_changed&direction=forward&limit=100${cursor}`
    const { body } = await cpd.api<{ event: { id: string }; cursor: string }[]>(path)
    const last = body.at(-1)
    if (last === undefined) return ids
    ids.push(...body.map(({ event }) => event.id))
    cursor = `&cursor=${last.cursor}`
  }
}

function missingIn(ids: readonly string[], received: readonly Received[]): string[] {
  const came = new Set(received.map(({ id }) => id))
  return ids.filter((id) => !came.has(id))
}

function judge(ids: readonly string[], received: readonly Received[], secret: string): WebhookKillsOutcome {
  const bodies = new Map<string, Set<string>>()
  for (const { id, body } of received) bodies.set(id, (bodies.get(id) ?? new Set()).add(body))
  return {
    events: ids.length,
    received: received.length,
    missing: missingIn(ids, received),
    altered: [...bodies].flatMap(([id, { size }]) => (size > 1 ? [id] : [])),
    unverified: received.filter((got) => !isVerified(secret, got)).length,
  }
}
