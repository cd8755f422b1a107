import { connect } from 'node:tls'
import { expect, test } from 'vitest'
import { readClientHello } from '../../../../server/ingress/tls/client-hello.ts'

/** What a real client sends first. */
async function helloOf(options: { servername?: string; ALPNProtocols?: string[]; maxVersion?: 'TLSv1.2' }): Promise<Buffer> {
  const { promise, resolve } = Promise.withResolvers<Buffer>()
  const listener = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      data(socket, bytes) {
        resolve(Buffer.from(bytes))
        socket.terminate()
      },
    },
  })
  const client = connect({ host: '127.0.0.1', port: listener.port, ...options })
  client.on('error', () => {})
  const bytes = await promise
  client.destroy()
  listener.stop(true)
  return bytes
}

const block = (sizeBytes: number, bytes: Buffer): Buffer => {
  const length = Buffer.alloc(sizeBytes)
  length.writeUIntBE(bytes.length, 0, sizeBytes)
  return Buffer.concat([length, bytes])
}
const extension = (type: number, bytes: Buffer): Buffer => Buffer.concat([Buffer.from([0, type]), block(2, bytes)])
const serverName = (name: string): Buffer => extension(0, block(2, Buffer.concat([Buffer.from([0]), block(2, Buffer.from(name))])))
const alpn = (...names: string[]): Buffer => extension(16, block(2, Buffer.concat(names.map((name) => block(1, Buffer.from(name))))))
const record = (bytes: Buffer): Buffer => Buffer.concat([Buffer.from([22, 3, 1]), block(2, bytes)])
const message = (...extensions: Buffer[]): Buffer => {
  const start = Buffer.concat([Buffer.alloc(34), block(1, Buffer.alloc(32)), block(2, Buffer.from([19, 1])), block(1, Buffer.from([0]))])
  return Buffer.concat([Buffer.from([1]), block(3, Buffer.concat([start, block(2, Buffer.concat(extensions))]))])
}

test('what a real client says is read', async () => {
  for (const maxVersion of [{}, { maxVersion: 'TLSv1.2' as const }]) {
    const hello = await helloOf({ servername: 'Shop.Example.com', ALPNProtocols: ['h2', 'http/1.1'], ...maxVersion })
    expect(readClientHello(hello)).toEqual({ serverName: 'shop.example.com', protocols: ['h2', 'http/1.1'] })
  }
  expect(readClientHello(await helloOf({}))).toEqual({ serverName: undefined, protocols: [] })
})

test('every part of it calls for more bytes, and what follows it does not matter', async () => {
  const hello = await helloOf({ servername: 'a.test', ALPNProtocols: ['acme-tls/1'] })
  for (let length = 0; length < hello.length; length++) expect(readClientHello(hello.subarray(0, length))).toBe('incomplete')
  expect(readClientHello(Buffer.concat([hello, Buffer.from('more')]))).toEqual({ serverName: 'a.test', protocols: ['acme-tls/1'] })
})

test('it may be spread over records', () => {
  const bytes = message(serverName('a.test'), alpn('h2'))
  for (const cut of [1, 3, 5, 60, bytes.length - 1]) {
    const records = Buffer.concat([record(bytes.subarray(0, cut)), record(bytes.subarray(cut))])
    expect(readClientHello(records)).toEqual({ serverName: 'a.test', protocols: ['h2'] })
  }
})

test('what is no ClientHello, or could be read in two ways, is malformed', () => {
  const wrong = [
    Buffer.from('GET / HTTP/1.1\r\n'),
    Buffer.from([22, 2, 0, 0, 5, 1, 0, 0, 1, 0]),
    Buffer.from([22, 3, 1, 0, 0]),
    Buffer.from([22, 3, 1, 0xff, 0xff]),
    record(Buffer.from([2, 0, 0, 1, 0])),
    record(Buffer.from([1, 0xff, 0xff, 0xff])),
    record(message(serverName('a.test'), serverName('b.test'))),
    record(message(alpn('h2'), alpn('acme-tls/1'))),
    record(message(serverName(''))),
    record(message(extension(0, Buffer.from([0, 9, 0, 0, 1, 97])))),
    record(message(extension(16, Buffer.from([0, 3, 9, 104, 50])))),
    record(message(extension(16, Buffer.from([0, 3, 2, 104, 50, 0])))),
  ]
  for (const bytes of wrong) expect(readClientHello(bytes), bytes.toString('hex')).toBe('malformed')
})

test('bytes changed at random are read or refused, and never break it', () => {
  const hello = record(message(serverName('a.test'), alpn('h2', 'http/1.1')))
  for (let round = 0; round < 20_000; round++) {
    const bytes = Buffer.from(hello)
    for (let change = 0; change <= round % 4; change++) bytes[Math.floor(Math.random() * bytes.length)] = Math.floor(Math.random() * 256)
    const reading = readClientHello(bytes)
    expect(typeof reading === 'string' || Array.isArray(reading.protocols)).toBe(true)
  }
})
