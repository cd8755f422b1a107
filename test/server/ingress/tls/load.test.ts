import { connect } from 'node:tls'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { ServedCertificate } from '../../../../server/ingress/tables/certificate-table.ts'
import { ok, proxyTo, type RawUpstream, startRawUpstream } from '../world.ts'
import { greet, startTlsWorld, type TlsWorld } from './tls-world.ts'

let world: TlsWorld
let upstream: RawUpstream

beforeEach(async () => {
  world = await startTlsWorld({ limits: { maxConnectionsPerAddress: 0 } })
  upstream = startRawUpstream((socket, text) => {
    const asked = text.split('\r\n\r\n').length - 1
    for (; socket.data.answers < asked; socket.data.answers++) socket.write(ok('fine'))
  })
  await world.publish({ 'a.test': proxyTo(upstream.port) })
})

afterEach(async () => {
  upstream.stop()
  await world.close()
})

/** One new connection with one request, and the name in the certificate. @throws Error when it is not answered whole. */
function visit(): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    const options = { host: '127.0.0.1', port: world.tlsPort, servername: 'a.test', ca: world.root }
    const socket = connect(options, () => socket.write('GET / HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n'))
    socket.on('data', (part) => {
      text += part
    })
    socket.on('error', reject)
    socket.on('close', () => (text.endsWith('fine') ? resolve('fine') : reject(new Error(`answered ${JSON.stringify(text)}`))))
  })
}

/** Requests one after the other on a connection that is kept. */
async function linger(isOver: () => boolean): Promise<number> {
  const options = { servername: 'a.test', ca: world.root }
  const socket = connect({ host: '127.0.0.1', port: world.tlsPort, ...options })
  let answers = 0
  const ended = Promise.withResolvers<never>()
  socket.on('close', () => ended.reject(new Error(`The connection was closed after ${answers} answers`)))
  socket.on('error', (error) => ended.reject(error))
  ended.promise.catch(() => {})
  while (!isOver()) {
    socket.write('GET / HTTP/1.1\r\nHost: a.test\r\n\r\n')
    await Promise.race([new Promise((resolve) => socket.once('data', resolve)), ended.promise])
    answers++
    await Bun.sleep(2)
  }
  socket.removeAllListeners('close')
  socket.destroy()
  return answers
}

test('certificates, the fallback and challenges come and go under load, and no connection or request is lost', async () => {
  const variants = [await world.certify('c1', ['a.test']), await world.certify('c1', ['a.test'])]
  const others = [await world.certify('c2', ['b.test']), await world.certify('c3', ['c.test'])]
  const challenge = await world.tlsChallenge('b.test')
  await world.serve([variants[0] as ServedCertificate])
  let isOver = false
  let visits = 0
  const visitor = async () => {
    for (; !isOver; visits++) await visit()
  }
  const load = Promise.all([visitor(), visitor(), visitor(), linger(() => isOver), linger(() => isOver)])
  for (let round = 0; round < 40; round++) {
    const certificates = [variants[round % 2] as ServedCertificate, ...others.slice(round % 3)]
    const fallback = round % 5 < 2 ? {} : { fallbackId: 'c1' }
    await world.serve(certificates, { challenges: round % 4 === 0 ? [challenge] : [], ...fallback })
    await Bun.sleep(20)
  }
  isOver = true
  const [, , , ...kept] = await load
  expect(visits).toBeGreaterThan(50)
  for (const answers of kept) expect(answers).toBeGreaterThan(20)
})

test('ten thousand certificates are published, and each one found', async () => {
  const one = await world.certify('c0', ['host0.test'])
  const many = Array.from({ length: 10_000 }, (_, index) => ({
    ...one,
    id: `c${index}`,
    hosts: [`host${index}.test`, `*.host${index}.test`],
  }))
  const rssBefore = process.memoryUsage.rss()
  const startedAt = performance.now()
  await world.serve(many)
  const publishedMs = performance.now() - startedAt
  for (const name of ['host0.test', 'x.host0.test']) expect((await greet(world, name)).name).toBe('host0.test')
  const mebibytes = (process.memoryUsage.rss() - rssBefore) / 1024 / 1024
  console.log(`10,000 certificates: published in ${publishedMs.toFixed(0)} ms, ${mebibytes.toFixed(0)} MiB more memory (of both sides)`)
})
