import { expect } from 'vitest'
import { RequestReader } from '../../../server/ingress/message/request-reader.ts'
import { ok } from './world.ts'

const limits = { maxHeadBytes: 64_000, maxFields: 200, maxTargetBytes: 32_000 }

export interface StrictInstance {
  port: number
  /** The first thing on each connection that could not be read strictly. */
  broken: unknown[]
  /** Requests that came whole. */
  whole(): number
  stop(): void
}

/** An instance that answers each request it can read strictly. The body is made from how many there have been. */
export function startStrictInstance(bodyOf: (whole: number) => string): StrictInstance {
  const broken: unknown[] = []
  let whole = 0
  const take = (socket: Bun.Socket<RequestReader>, bytes: Buffer) => {
    socket.data.push(bytes)
    try {
      for (let event = socket.data.next(); event !== undefined; event = socket.data.next()) {
        const isWhole = event.kind === 'end' || (event.kind === 'head' && event.head.framing.kind === 'none')
        if (event.kind === 'head') expect(event.head.fields.filter(({ name }) => name === 'x-forwarded-for')).toHaveLength(1)
        if (!isWhole) continue
        whole++
        socket.write(ok(bodyOf(whole)))
      }
    } catch (error) {
      broken.push(error)
      socket.terminate()
    }
  }
  const listener = Bun.listen<RequestReader>({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open(socket) {
        socket.data = new RequestReader(limits)
      },
      data: take,
    },
  })
  return { port: listener.port, broken, whole: () => whole, stop: () => listener.stop(true) }
}
