import { tarGz } from './archives.ts'
import type { Platform } from './platform.ts'

/** Connects to `place` when asked for `/ask?place=host:port`, and says what it was told, or the code of the error. */
const PROBER = `
const { connect } = require('node:net')
const ask = (place) => new Promise((done) => {
  const at = place.lastIndexOf(':')
  const socket = connect({ host: place.slice(0, at), port: Number(place.slice(at + 1)), family: 4 })
  let text = ''
  socket.setTimeout(5000, () => { socket.destroy(); done('timeout') })
  socket.on('connect', () => socket.write('GET / HTTP/1.0\\r\\n\\r\\n'))
  socket.on('data', (bytes) => { text += bytes })
  socket.on('end', () => done('connected ' + text.split('\\r\\n\\r\\n').at(-1)))
  socket.on('error', (error) => done(error.code))
})
require('node:http').createServer(async (request, response) => {
  const places = new URL(request.url, 'http://x').searchParams.getAll('place')
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
