/** Headers of a WebSocket handshake, for asking what a refused one is answered. */
export const upgradeHeaders = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
}

const received = new WeakMap<WebSocket, string[]>()

/** Opens a WebSocket at an http URL. Frames are kept from the first on. */
export async function openSocket(url: string, headers: Record<string, string>): Promise<WebSocket> {
  const socket = new WebSocket(url.replace(/^http/, 'ws'), { headers })
  const kept: string[] = []
  received.set(socket, kept)
  socket.addEventListener('message', ({ data }) => kept.push(String(data)))
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => resolve())
    socket.addEventListener('close', ({ code, reason }) => reject(new Error(`Closed before it opened: ${code} ${reason}`)))
  })
  return socket
}

/** The next `count` frames, taken out of those kept. */
export async function frames(socket: WebSocket, count: number): Promise<string[]> {
  const kept = received.get(socket) ?? []
  while (kept.length < count) {
    await new Promise<void>((resolve, reject) => {
      socket.addEventListener('message', () => resolve(), { once: true })
      socket.addEventListener('close', () => reject(new Error(`Closed after ${kept.length} of ${count} frames`)), { once: true })
    })
  }
  return kept.splice(0, count)
}

export const closed = (socket: WebSocket): Promise<{ code: number; reason: string }> =>
  new Promise((resolve) => socket.addEventListener('close', ({ code, reason }) => resolve({ code, reason }), { once: true }))
