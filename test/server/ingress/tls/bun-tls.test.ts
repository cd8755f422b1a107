import { connect } from 'node:tls'
import { afterEach, beforeAll, expect, test } from 'vitest'
import { descriptorOf } from '../../../../server/ingress/serve/transport.ts'
import { type KeyPair, listenPlain, listenTls, refusal, secureContextOf, upgradeServer } from '../../../../server/ingress/tls/bun-tls.ts'
import { duplicateDescriptor } from '../../../../server/ingress/tls/duplicate-descriptor.ts'
import { makeCertificate } from '../../../support/certificates.ts'
import { connectRaw, eventually } from '../world.ts'

// What Bun does not promise in its types. A newer Bun that fails here needs another way.

let own: KeyPair
let named: KeyPair
let listeners: { stop(isForced?: boolean): void }[] = []

beforeAll(async () => {
  const make = async (name: string) => {
    const { certificate, privateKey } = await makeCertificate({ names: [name] })
    return { certificate, key: privateKey }
  }
  own = await make('own.test')
  named = await make('named.test')
})

afterEach(() => {
  for (const listener of listeners) listener.stop(true)
  listeners = []
})

const where = { hostname: '127.0.0.1', port: 0 }

function listen(keyPair: KeyPair | undefined, events: string[], place: { fd: number } | typeof where = where) {
  const context = secureContextOf(named)
  const listener = listenTls<undefined>({
    place,
    keyPair,
    protocols: ['h2', 'http/1.1'],
    handlers: {
      serverName(_listener, name, socket) {
        events.push(`name ${name} ${socket.fd > 2}`)
        if (name === 'refused.test') return refusal
        return name === 'named.test' ? context : undefined
      },
      open: () => void events.push('open'),
      handshake: (socket, isAgreed) => void events.push(`handshake ${isAgreed} ${socket.alpnProtocol}`),
      data: (socket, bytes) => {
        events.push('data')
        socket.write(bytes)
      },
    },
  })
  listeners.push(listener)
  return listener
}

/** The name in the certificate shown and the protocol agreed on, or the error. */
function shown(port: number, servername: string | undefined, ALPNProtocols: string[] = []): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(
      { host: '127.0.0.1', port, rejectUnauthorized: false, ALPNProtocols, ...(servername === undefined ? {} : { servername }) },
      () => {
        resolve(`${socket.getPeerCertificate().subject.CN} ${socket.alpnProtocol}`)
        socket.end()
      },
    )
    socket.on('error', () => resolve('refused'))
  })
}

test('a connection opens before its handshake, is asked for by name, and knows its protocol', async () => {
  const events: string[] = []
  const { port } = listen(own, events)
  expect(await shown(port, 'named.test', ['http/1.1'])).toBe('named.test http/1.1')
  await eventually(() => events.length >= 3)
  expect(events.slice(0, 3)).toEqual(['open', 'name named.test true', 'handshake true http/1.1'])
  const silent = await connectRaw(port)
  await eventually(() => events.filter((event) => event === 'open').length === 2)
  silent.kill()
})

test('without a name the listener has its own certificate and nobody is asked; without that, the client is refused', async () => {
  const events: string[] = []
  expect(await shown(listen(own, events).port, undefined)).toBe('own.test false')
  expect(await shown(listen(undefined, events).port, undefined)).toBe('refused')
  expect(events.some((event) => event.startsWith('name'))).toBe(false)
})

test('undefined stands for the own certificate, an error for a refusal', async () => {
  const { port } = listen(own, [])
  expect(await shown(port, 'other.test')).toBe('own.test false')
  expect(await shown(port, 'refused.test')).toBe('refused')
})

test('a key that is not of the certificate is told', () => {
  expect(() => secureContextOf({ certificate: own.certificate, key: named.key })).toThrow('KEY_VALUES_MISMATCH')
})

test('a second listener goes on with the same socket when the first one stops, and serves those who wait', async () => {
  const events: string[] = []
  const first = listen(own, events)
  const { port } = first
  listen(named, events, { fd: duplicateDescriptor(descriptorOf(first)) })
  const waiting = shown(port, undefined)
  first.stop()
  expect(['own.test false', 'named.test false']).toContain(await waiting)
  for (let index = 0; index < 5; index++) expect(await shown(port, undefined)).toBe('named.test false')
})

test('an accepted connection becomes the server side of TLS, with the bytes that have come', async () => {
  const events: string[] = []
  const context = secureContextOf(named)
  const listener = listenPlain<string>({
    place: where,
    handlers: {
      data(socket, bytes) {
        if (socket.data === 'spent') return
        socket.data = 'spent'
        const handlers = {
          handshake: (inner: Bun.Socket<string>, isAgreed: boolean) => void events.push(`${inner.data} ${isAgreed} ${inner.alpnProtocol}`),
          data: (inner: Bun.Socket<string>, part: Buffer) => void inner.write(part),
        }
        const upgraded = upgradeServer(socket, {
          data: 'inner',
          context,
          protocols: ['acme-tls/1'],
          received: Buffer.from(bytes),
          handlers,
        })
        events.push(upgraded.remoteAddress)
      },
    },
  })
  listeners.push(listener)
  expect(await shown(listener.port, 'any.test', ['acme-tls/1'])).toBe('named.test acme-tls/1')
  await eventually(() => events.length === 2)
  expect(events).toEqual(['127.0.0.1', 'inner true acme-tls/1'])
})
