import { existsSync, readFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'

export interface Resolver {
  text: string
  local: string[]
}

const HOSTS_OWN = '/etc/resolv.conf'
/** systemd-resolved listens on loopback and writes down here whom it asks. */
const UPSTREAM = '/run/systemd/resolve/resolv.conf'

export function readResolver(gateway: string): Resolver {
  const own = readIfThere(HOSTS_OWN)
  const upstream = serversIn(own).some(isLoopback) ? readIfThere(UPSTREAM) : ''
  const ownAddresses = Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address))
  return planResolver(serversIn(upstream).some((server) => !isLoopback(server)) ? upstream : own, gateway, ownAddresses)
}

/** Instances have no IPv6, and a loopback of their own: a server that listens on the host's is asked at the gateway. */
export function planResolver(text: string, gateway: string, ownAddresses: readonly string[]): Resolver {
  const usable = serversIn(text).filter((server) => !server.includes(':'))
  const servers = [...new Set(usable.map((server) => (isLoopback(server) ? gateway : server)))]
  const rest = text.split('\n').filter((line) => /^\s*(search|domain|options)\b/.test(line))
  return {
    text: [...servers.map((server) => `nameserver ${server}`), ...rest, ''].join('\n'),
    local: [...new Set(usable.filter((server) => isLoopback(server) || ownAddresses.includes(server)))],
  }
}

const serversIn = (text: string): string[] => [...text.matchAll(/^\s*nameserver\s+(\S+)/gm)].map(([, server]) => server ?? '')

const isLoopback = (server: string): boolean => server.startsWith('127.') || server === '::1'

const readIfThere = (path: string): string => (existsSync(path) ? readFileSync(path, 'utf8') : '')
