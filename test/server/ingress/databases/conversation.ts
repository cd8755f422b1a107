import { once } from 'node:events'
import { connect as connectTcp } from 'node:net'
import { connect, type TLSSocket } from 'node:tls'
import { eventually } from '../world.ts'
import { sslRequest, startup } from './packets.ts'
import { type DatabaseWorld, PG_HOST } from './world.ts'

/** A client inside of TLS, driven by hand. */
export interface Conversation {
  socket: TLSSocket
  say(words: string | Buffer): void
  /** All that was heard so far. */
  heard(): Buffer
  /** What was heard once there is as much of it. */
  hears(isEnough: (text: string) => boolean): Promise<string>
  /** What was heard when the other side has ended it. */
  ended: Promise<Buffer>
}

interface How {
  port: number
  servername?: string
  protocols?: string[]
}

/** Begins with TLS at once. @throws Error of a handshake that was refused. */
export async function converse({ root }: Pick<DatabaseWorld, 'root'>, { port, servername, protocols = [] }: How): Promise<Conversation> {
  const name = servername === undefined ? { checkServerIdentity: () => undefined } : { servername }
  const socket = connect({ host: '127.0.0.1', port, ca: root, ALPNProtocols: protocols, ...name })
  return await conversation(socket)
}

export async function conversation(socket: TLSSocket): Promise<Conversation> {
  const parts: Buffer[] = []
  const ended = Promise.withResolvers<Buffer>()
  const secured = Promise.withResolvers<void>()
  socket.on('secureConnect', () => secured.resolve())
  socket.on('data', (part: Buffer) => parts.push(part))
  socket.on('error', (error) => secured.reject(error))
  socket.on('close', () => {
    secured.reject(new Error('closed'))
    ended.resolve(Buffer.concat(parts))
  })
  await secured.promise
  const heard = () => Buffer.concat(parts)
  return {
    socket,
    say: (words) => void socket.write(words),
    heard,
    async hears(isEnough) {
      await eventually(() => isEnough(heard().toString('latin1')))
      return heard().toString('latin1')
    },
    ended: ended.promise,
  }
}

/** Asks for TLS first, as clients of PostgreSQL do, and then begins a session. */
export async function beginPostgres(
  { root, postgresPort: port }: Pick<DatabaseWorld, 'root' | 'postgresPort'>,
  {
    servername = PG_HOST,
    parameters = { user: 'ada', database: 'shop' },
  }: { servername?: string; parameters?: Record<string, string> } = {},
): Promise<Conversation> {
  const raw = connectTcp({ host: '127.0.0.1', port })
  raw.write(sslRequest)
  const [answer] = await once(raw, 'data')
  if (String(answer) !== 'S') throw new Error(`TLS was answered with ${answer}`)
  const client = await conversation(connect({ socket: raw, servername, ca: root }))
  client.say(startup(parameters))
  return client
}
