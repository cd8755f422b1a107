import type { Connection, ConnectionEvents, Dial } from '../../platform/network/dial.ts'
import type { Clock } from '../../platform/work/clock.ts'
import type { End } from '../port/end.ts'
import type { Program } from './program.ts'

const HEAD_END = '\r\n\r\n'

interface Speaker {
  address: string
  program: Program
  readonly ended: Promise<End>
}

export const dialAmong =
  (running: () => readonly Speaker[], clock: Clock): Dial =>
  async ({ hostname, port }, on) => {
    const speaker = running().find(({ address, program }) => address === hostname && program.ports.has(port))
    if (speaker === undefined) throw new Error(`Nobody listens at ${hostname}:${port}`)
    return connectTo(speaker, on, clock)
  }

function connectTo({ program, ended }: Speaker, on: ConnectionEvents, clock: Clock): Connection {
  let isOpen = true
  let asked = ''
  const close = () => {
    if (isOpen) on.closed()
    isOpen = false
  }
  void ended.then(close)
  const reply = (head: string) => {
    const path = head.split(' ', 2)[1] ?? '/'
    const answer = program.answerTo(path)
    if (!isOpen || answer === undefined) return
    const { status, text } = answer
    on.data(new TextEncoder().encode(`HTTP/1.1 ${status} Fake\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`))
  }
  return {
    write(text) {
      const [head = '', ...more] = (asked + text).split(HEAD_END)
      asked = more.length === 0 ? head : more.join(HEAD_END)
      if (more.length > 0) clock.after(0, () => reply(head))
    },
    cut() {
      isOpen = false
    },
  }
}
