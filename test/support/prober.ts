import { tarGz } from './archives.ts'
import type { Platform } from './platform.ts'

/**
 * Connects to `place` when asked for `/ask?place=host:port`, and says what it was told, or the code of the error. Asked for
 * `/hold?place=host:port` it keeps the connection and asks over it again and again; `/held` says how often it was answered over each, or
 * how it ended.
 */
const PROBER = `
const { connect } = require('node:net')
const ask = (place) => new Promise((done) => {
  const at = place.lastIndexOf(':')
  const socket = connect({ host: place.slice(0, at), port: Number(place.slice(at + 1)), family: place.includes('::') ? 6 : 4 })
  let text = ''
  socket.setTimeout(5000, () => { socket.destroy(); done('timeout') })
  socket.on('connect', () => socket.write('GET / HTTP/1.0\\r\\n\\r\\n'))
  socket.on('data', (bytes) => { text += bytes })
  socket.on('end', () => done('connected ' + text.split('\\r\\n\\r\\n').at(-1)))
  socket.on('error', (error) => done(error.code))
})
const held = []
const hold = (place) => {
  const at = place.lastIndexOf(':')
  const one = { answers: 0 }
  held.push(one)
  const socket = connect({ host: place.slice(0, at), port: Number(place.slice(at + 1)), family: 4 })
  const askAgain = () => socket.write('HEAD / HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n')
  socket.on('connect', askAgain).on('data', () => { one.answers++; setTimeout(askAgain, 20) })
  socket.on('error', (error) => { one.end = error.code }).on('close', () => { one.end ??= 'closed' })
}
require('node:http').createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://x')
  const places = searchParams.getAll('place')
  if (pathname === '/hold') places.forEach(hold)
  if (pathname.startsWith('/h')) return response.end(JSON.stringify(held))
  response.end(JSON.stringify(await Promise.all(places.map(async (place) => [place, await ask(place)]))))
}).listen(process.env.PORT)
`

/** Answers everything with its own words. */
const greeter = (words: string, port: string): string => `
const server = require('node:http').createServer((request, response) => response.end(${JSON.stringify(words)})).listen(${port})
process.on('SIGTERM', () => server.close(() => process.exit(0)))
`

const appOf = async (code: string) =>
  new Uint8Array(
    await tarGz([
      { name: 'server.js', content: code },
      { name: 'package.json', content: '{}' },
    ]),
  )

export const proberApp = (): Promise<Uint8Array<ArrayBuffer>> => appOf(PROBER)

/** `port` is an expression of the app's own. */
export const greeterApp = (words: string, port = 'process.env.PORT'): Promise<Uint8Array<ArrayBuffer>> => appOf(greeter(words, port))

/** What a prober is told at each of these places. */
export async function probe(platform: Pick<Platform, 'ingress'>, host: string, places: string[]): Promise<Record<string, string>> {
  const query = new URLSearchParams(places.map((place): [string, string] => ['place', place]))
  const { status, text } = await platform.ingress.visit(host, `/?${query}`)
  if (status !== 200) throw new Error(`The prober answered ${status}: ${text}`)
  return Object.fromEntries(JSON.parse(text) as [string, string][])
}

export interface Held {
  answers: number
  end?: string
}

/** Has a prober open connections that stay open. */
export async function hold(platform: Pick<Platform, 'ingress'>, host: string, places: string[]): Promise<void> {
  await platform.ingress.visit(host, `/hold?${new URLSearchParams(places.map((place): [string, string] => ['place', place]))}`)
}

/** All connections that a prober was told to hold. */
export async function held(platform: Pick<Platform, 'ingress'>, host: string): Promise<Held[]> {
  return JSON.parse((await platform.ingress.visit(host, '/held')).text)
}
