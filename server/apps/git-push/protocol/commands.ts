import { AppError } from '../../../../shared/error.ts'
import { FLUSH, pktLine, readPacket } from './pkt-line.ts'

export interface RefUpdate {
  ref: string
  /** What the client takes the ref to point to; `NO_OBJECT` for one that is to be made. */
  from: string
  /** What it is to point to; `NO_OBJECT` for one that is to go. */
  to: string
}

export interface PushHead {
  updates: readonly RefUpdate[]
  shallow: readonly string[]
  capabilities: ReadonlySet<string>
}

export const NO_OBJECT = '0'.repeat(40)

/** Refs of one push. A repository that comes from elsewhere brings all of its tags at once. */
const MOST_UPDATES = 2000
const MOST_HEAD_BYTES = 1024 * 1024

const updatePattern = /^([0-9a-f]{40}) ([0-9a-f]{40}) (.+)$/s
const shallowPattern = /^shallow ([0-9a-f]{40})$/

/** Takes the head off a stream. The rest is given as it comes. @throws AppError bad_request for what is no push. */
export async function readHead(body: AsyncIterator<Uint8Array>): Promise<{ head: PushHead; rest: Buffer }> {
  const lines: Buffer[] = []
  let held = Buffer.alloc(0)
  let headBytes = 0
  for (;;) {
    const packet = readPacket(held)
    switch (packet.kind) {
      case 'flush':
        return { head: headOf(lines), rest: held.subarray(packet.byteCount) }
      case 'line':
        lines.push(packet.payload)
        held = held.subarray(packet.byteCount)
        headBytes += packet.byteCount
        break
      case 'malformed':
        throw noPush()
      case 'incomplete': {
        const next = await body.next()
        if (next.done) throw noPush()
        held = Buffer.concat([held, next.value])
      }
    }
    if (headBytes > MOST_HEAD_BYTES) throw tooMany()
  }
}

function headOf(lines: readonly Buffer[]): PushHead {
  const updates: RefUpdate[] = []
  const shallow: string[] = []
  let capabilities: ReadonlySet<string> = new Set()
  for (const line of lines) {
    const [text = '', words] = line.toString('utf8').replace(/\n$/, '').split('\0', 2)
    if (words !== undefined) capabilities = new Set(words.split(' ').filter((word) => word !== ''))
    const cut = shallowPattern.exec(text)?.[1]
    const [, from, to, ref] = updatePattern.exec(text) ?? []
    if (cut !== undefined) shallow.push(cut)
    else if (from !== undefined && to !== undefined && ref !== undefined) updates.push({ from, to, ref })
    else throw noPush()
  }
  if (updates.length > MOST_UPDATES) throw tooMany()
  return { updates, shallow, capabilities }
}

/** The head as it is given to git, which sees the refs that stand in these updates. */
export function writeHead({ updates, shallow, capabilities }: PushHead): Uint8Array {
  const words = ['report-status', 'side-band-64k', ...(capabilities.has('quiet') ? ['quiet'] : [])].join(' ')
  const lines = updates.map(({ from, to, ref }, index) => `${from} ${to} ${ref}${index === 0 ? `\0 ${words}` : ''}\n`)
  return Buffer.concat([...shallow.map((cut) => pktLine(`shallow ${cut}`)), ...lines.map(pktLine), FLUSH])
}

const noPush = (): AppError => new AppError('bad_request', 'This is no push of git, or was cut off before its end. Push again.')

const tooMany = (): AppError => new AppError('payload_too_large', `A push may be about ${MOST_UPDATES} refs. Push them in several.`)
