import { type Address, formatAddress } from '../../platform/network/address.ts'
import type { Config } from '../settings/config.ts'

/** Who answers where clients of databases come in from outside: nobody, the ingress, or another program that has the port. */
export interface ToldDoor {
  setting: 'CP_INGRESS_POSTGRES' | 'CP_INGRESS_KEY_VALUE'
  address: string
  answer: 'ingress' | 'another' | 'nobody'
}

const TIMEOUT_MS = 2_000
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])
/** The ingress answers words in clear with a request for TLS, before anything else is looked at. */
const probes = {
  CP_INGRESS_POSTGRES: { words: SSL_REQUEST, isOurs: (said: string) => said === 'S' },
  CP_INGRESS_KEY_VALUE: { words: Buffer.from('PING\r\n'), isOurs: (said: string) => said.includes('TLS is required') },
} as const

export async function doorsHere(config: Config): Promise<ToldDoor[]> {
  const settings = ['CP_INGRESS_POSTGRES', 'CP_INGRESS_KEY_VALUE'] as const
  const told = settings.map(async (setting): Promise<ToldDoor[]> => {
    const address = config[setting]
    if (address === undefined) return []
    const { words, isOurs } = probes[setting]
    const said = await saidAt(address, words)
    return [{ setting, address: formatAddress(address), answer: said === undefined ? 'nobody' : isOurs(said) ? 'ingress' : 'another' }]
  })
  return (await Promise.all(told)).flat()
}

export const doorLines = (doors: readonly ToldDoor[]): string[] => doors.map(lineOf)

function lineOf({ setting, address, answer }: ToldDoor): string {
  if (answer === 'ingress') return `  yes  ${setting}: the ingress answers at ${address}`
  if (answer === 'nobody') return `  no   ${setting}: nobody answers at ${address}. Is cpd serve running with this setting?`
  return `  no   ${setting}: another program has ${address}. Stop it or choose another port; the ingress tries again every few seconds.`
}

const anywhere: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

/** What is said first to these words, or undefined where nobody takes the connection. */
async function saidAt({ host, port }: Address, words: Buffer): Promise<string | undefined> {
  const said = Promise.withResolvers<string>()
  const over = () => said.resolve('')
  const timer = setTimeout(over, TIMEOUT_MS)
  const socket = await Bun.connect({
    hostname: anywhere[host] ?? host,
    port,
    socket: {
      open: (opened) => void opened.write(words),
      data: (_, bytes) => said.resolve(bytes.toString('latin1')),
      close: over,
      error: over,
    },
  }).catch(() => undefined)
  if (socket === undefined) over()
  const heard = await said.promise
  clearTimeout(timer)
  socket?.terminate()
  return socket === undefined ? undefined : heard
}
