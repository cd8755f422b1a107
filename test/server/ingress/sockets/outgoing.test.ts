import { expect, test } from 'vitest'
import { Outgoing } from '../../../../server/ingress/sockets/outgoing.ts'

/** Takes at most so many bytes a write, as a kernel whose buffer is full would. */
function recordingSocket() {
  const socket = {
    room: Number.POSITIVE_INFINITY,
    writes: [] as string[],
    shutdowns: 0,
    write(bytes: Buffer, from: number, count: number): number {
      const taken = Math.min(count, socket.room)
      socket.room -= taken
      if (taken > 0) socket.writes.push(bytes.toString('latin1', from, from + taken))
      return taken
    },
    shutdown: () => void socket.shutdowns++,
  }
  return socket
}

test('a head and what follows it are one write, bytes alone are not copied into one', () => {
  const socket = recordingSocket()
  const out = new Outgoing(socket)
  out.hold()
  out.writeHead('head\r\n\r\n')
  out.write(Buffer.from('..body..'), 2, 6)
  out.release()
  out.writeHead('alone')
  out.write(Buffer.from('more'))
  expect(socket.writes).toEqual(['head\r\n\r\nbody', 'alone', 'more'])
})

test('what is put together for one socket is not mixed with what is put together for another meanwhile', () => {
  const [one, two] = [recordingSocket(), recordingSocket()]
  const [outOne, outTwo] = [new Outgoing(one), new Outgoing(two)]
  outOne.hold()
  outOne.writeHead('one ')
  outTwo.hold()
  outTwo.writeHead('two')
  outTwo.release()
  outOne.write(Buffer.from('goes on'))
  outOne.release()
  expect([one.writes, two.writes]).toEqual([['one goes on'], ['two']])
})

test('what the kernel does not take waits unchanged, in order, and the end waits for it', () => {
  const socket = recordingSocket()
  const out = new Outgoing(socket)
  socket.room = 2
  out.hold()
  out.writeHead('head ')
  out.write(Buffer.from('body '))
  out.release()
  new Outgoing(recordingSocket()).writeHead('uses the room')
  out.writeHead('next ')
  out.write(Buffer.from('last'))
  out.end()
  expect([socket.writes.join(''), out.isEmpty, socket.shutdowns]).toEqual(['he', false, 0])
  socket.room = Number.POSITIVE_INFINITY
  out.flush()
  expect([socket.writes.join(''), out.isEmpty, socket.shutdowns]).toEqual(['head body next last', true, 1])
})

test('a body too large to be copied follows its head in a write of its own', () => {
  const socket = recordingSocket()
  const out = new Outgoing(socket)
  const body = 'b'.repeat(100_000)
  out.hold()
  out.writeHead('head')
  out.write(Buffer.from(body))
  out.release()
  expect(socket.writes).toEqual(['head', body])
})
