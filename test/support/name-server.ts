import { createSocket, type Socket } from 'node:dgram'
import { spawnProcess } from '../../server/platform/process/spawn.ts'
import { freePorts } from './free-ports.ts'
import { findPrograms } from './pebble.ts'
import { until } from './until.ts'

/** Let's Encrypt's test resolver on loopback, which knows nothing but what it is told. */
export interface NameServer {
  /** `127.0.0.1:port`, for CP_DNS_RESOLVER. */
  address: string
  cname(name: string, target: string): Promise<void>
  a(name: string, ...addresses: string[]): Promise<void>
  aaaa(name: string, ...addresses: string[]): Promise<void>
  txt(name: string, value: string): Promise<void>
  /** Every question about it fails with SERVFAIL. */
  fails(name: string): Promise<void>
  close(): Promise<void>
}

export async function startNameServer(): Promise<NameServer> {
  const { resolver } = await findPrograms()
  const [port = 0, managementPort = 0] = freePorts(2)
  const unused = ['-http01', '', '-https01', '', '-tlsalpn01', '', '-doh', '', '-defaultIPv4', '', '-defaultIPv6', '']
  const child = spawnProcess([resolver, '-dnsserver', `127.0.0.1:${port}`, '-management', `127.0.0.1:${managementPort}`, ...unused], {
    stdout: 'ignore',
    stderr: 'ignore',
  })
  const control = `http://127.0.0.1:${managementPort}`
  const tell = async (path: string, body: Record<string, unknown>) => {
    const reply = await fetch(`${control}${path}`, { method: 'POST', body: JSON.stringify(body) })
    if (!reply.ok) throw new Error(`The resolver answered ${reply.status} to ${path}`)
  }
  await until('the resolver answers', async () => (await fetch(control).catch(() => undefined)) !== undefined)
  return {
    address: `127.0.0.1:${port}`,
    cname: (host, target) => tell('/set-cname', { host, target: `${target}.` }),
    a: (host, ...addresses) => tell('/add-a', { host, addresses }),
    aaaa: (host, ...addresses) => tell('/add-aaaa', { host, addresses }),
    txt: (host, value) => tell('/set-txt', { host: `${host}.`, value }),
    fails: (host) => tell('/set-servfail', { host }),
    async close() {
      child.kill('SIGKILL')
      await child.exited
    },
  }
}

export interface SpeechlessServer {
  address: string
  /** Questions that came. */
  asked(): number
  close(): void
}

/** Response codes (RFC 1035 section 4.1.1). */
export const NXDOMAIN = 3
export const REFUSED = 5

/** A name server that answers every question with a response code and nothing else, or with silence. */
export async function startSpeechlessServer(code: number | undefined): Promise<SpeechlessServer> {
  const socket: Socket = createSocket('udp4')
  let asked = 0
  socket.on('message', (question, { port, address }) => {
    asked += 1
    if (code === undefined) return
    const answer = Buffer.from(question)
    // A response, recursion desired and available, and the code.
    answer.writeUInt16BE(0x8180 | code, 2)
    socket.send(answer, port, address)
  })
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  return { address: `127.0.0.1:${socket.address().port}`, asked: () => asked, close: () => socket.close() }
}
