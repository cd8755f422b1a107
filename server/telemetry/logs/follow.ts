import type { SocketEvents } from '../../http/sockets/sockets.ts'
import type { LogFilter } from './filter.ts'
import type { LogHub, Subscription } from './hub.ts'
import { frameOf } from './wire.ts'

const SERVER_ERROR = 1011
const TRY_AGAIN_LATER = 1013

export function followLogs(hub: LogHub, filter: LogFilter, release: () => void): SocketEvents {
  const ending = new AbortController()
  let subscription: Subscription | undefined
  return {
    opened(socket) {
      subscription = hub.subscribe({
        filter,
        from: filter.startAt === undefined ? 'now' : 'start',
        signal: ending.signal,
        sink: {
          send(line) {
            const outcome = socket.send(frameOf(line))
            if (outcome === 'dropped') ending.abort()
            return outcome === 'sent'
          },
        },
        onError: () => socket.close(SERVER_ERROR, 'The logs could not be read; connect again'),
        onTooSlow: () => socket.close(TRY_AGAIN_LATER, 'No line was taken for a minute; connect again, from the last one'),
      })
    },
    drained: () => subscription?.resume(),
    closed: () => {
      ending.abort()
      release()
    },
  }
}
