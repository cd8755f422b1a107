/** Started by ingress.ts as a process of its own: answers every request with 1 KB as cheaply as can be. Prints its port. */
const BODY_BYTES = 1024
const END_OF_HEAD = '\r\n\r\n'

if (import.meta.main) {
  const answer = Buffer.from(
    `HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: ${BODY_BYTES}\r\n\r\n${'x'.repeat(BODY_BYTES)}`,
  )
  const listener = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      data(socket, bytes) {
        for (let at = bytes.indexOf(END_OF_HEAD); at >= 0; at = bytes.indexOf(END_OF_HEAD, at + 1)) socket.write(answer)
      },
    },
  })
  console.log(listener.port)
}
