/**
 * One attack on an ingress, as a process of its own, until it is killed. Arguments: the attack; the ports of the ingress for http and
 * https. An attack that needs an app prints the port of that first; all print `on` once they have begun.
 */
import { connect } from 'node:tls'
import { block, type Fields, frame, settings, Type, uint32 } from '../../server/ingress/http2/h2-client.ts'
import { FILES, HOSTILE_HOST } from './hostile-site.ts'

const [attack = '', http = '', https = ''] = process.argv.slice(2)
const STREAMS = 128
const INITIAL_WINDOW = 4
const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')

const headOf = (path: string): Fields => [
  [':method', 'GET'],
  [':scheme', 'https'],
  [':authority', HOSTILE_HOST],
  [':path', path],
]

const requests = (path: string): Buffer =>
  Buffer.concat(Array.from({ length: STREAMS }, (_, index) => frame(Type.headers, 5, 2 * index + 1, block(headOf(path)))))

/** Opens an HTTP/2 connection that asks for something and reads nothing; another takes its place when it is ended. */
function greedy(path: string, windowBytes: number, dripEveryMs: number): void {
  const socket = connect({
    host: '127.0.0.1',
    port: Number(https),
    ALPNProtocols: ['h2'],
    rejectUnauthorized: false,
    servername: HOSTILE_HOST,
  })
  let drip: ReturnType<typeof setInterval> | undefined
  socket.on('secureConnect', () => {
    if (dripEveryMs === 0) socket.pause()
    else socket.on('data', () => {})
    socket.write(Buffer.concat([PREFACE, settings([INITIAL_WINDOW, windowBytes]), requests(path)]))
    if (dripEveryMs === 0) return
    let streamId = 1
    drip = setInterval(() => {
      socket.write(frame(Type.windowUpdate, 0, streamId, uint32(1)))
      streamId = (streamId % (2 * STREAMS)) + 2
    }, dripEveryMs)
  })
  socket.on('error', () => {})
  socket.on('close', () => {
    clearInterval(drip)
    setTimeout(() => greedy(path, windowBytes, dripEveryMs), 1000)
  })
}

const repeat = (count: number, work: () => void): void => {
  for (let index = 0; index < count; index++) work()
}

/** Asks over and over on so many connections, for another path each time. */
function hammer(connections: number, pathOf: (count: number) => string, headers: Record<string, string>): void {
  let count = 0
  const loop = async () => {
    for (;;) {
      const url = `http://127.0.0.1:${http}${pathOf(count++)}`
      await fetch(url, { headers: { host: HOSTILE_HOST, ...headers }, decompress: false })
        .then((response) => response.arrayBuffer())
        .catch(() => Bun.sleep(100))
    }
  }
  repeat(connections, () => void loop())
}

/** An app that sends interim answers for as long as somebody takes them. */
function endlessInterim(): number {
  const hints = Buffer.from(`HTTP/1.1 103 Early Hints\r\nLink: </${'a'.repeat(4000)}>\r\n\r\n`.repeat(64))
  const pour = (socket: Bun.Socket) => {
    while (socket.write(hints) === hints.length);
  }
  return Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: pour, drain: pour } }).port
}

const CODINGS = ['br', 'zstd', 'gzip']
const attacks: Record<string, () => void> = {
  windows: () => repeat(80, () => greedy('/huge.bin', 0, 25)),
  interim: () => {
    console.log(endlessInterim())
    repeat(8, () => greedy('/app', 0, 0))
  },
  rules: () => hammer(4, () => `${'/a'.repeat(2000)}/b`, {}),
  compression: () => {
    let coding = 0
    hammer(60, (count) => `/${count % FILES}.css`, {
      get 'accept-encoding'() {
        return CODINGS[coding++ % CODINGS.length] ?? 'br'
      },
    })
  },
}

attacks[attack]?.()
console.log('on')
