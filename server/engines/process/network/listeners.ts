import { readdirSync, readlinkSync } from 'node:fs'
import type { Listener } from '../../port/port.ts'
import type { RunningInstance } from './instance-ports.ts'
import { listeningSocketsOf, type TcpSocket } from './loopback.ts'
import { HOST_ATTACHMENT } from './networks.ts'

export function listenersOf(instance: RunningInstance | undefined): Listener[] {
  if (instance === undefined) return []
  const { leader, address, members } = instance
  const sockets = listeningSocketsOf(leader.pid)
  if (address !== HOST_ATTACHMENT.address) return listenersAmong(sockets, address)
  return ownListenersAmong(sockets, socketInodesOf(members()), address)
}

/**
 * In the machine's network those are an instance's own whose descriptors its processes have. Where another user listens at the same port,
 * nobody can tell whom a connection reaches.
 */
export function ownListenersAmong(sockets: readonly TcpSocket[], inodes: ReadonlySet<number>, address: string): Listener[] {
  const own = sockets.filter(({ inode }) => inodes.has(inode))
  const reached = sockets.filter(({ localAddress }) => [...EVERYWHERE, address].includes(localAddress))
  const isContested = ({ port }: Listener) => new Set(reached.flatMap(({ localPort, uid }) => (localPort === port ? uid : []))).size > 1
  return listenersAmong(own, address).map((one) => (isContested(one) ? { ...one, reach: 'nowhere' } : one))
}

export function listenersAmong(sockets: readonly TcpSocket[], address: string): Listener[] {
  const byPort = Map.groupBy(sockets, ({ localPort }) => localPort)
  return [...byPort]
    .map(([port, all]) => ({ port, reach: bestOf(all.map(({ localAddress }) => reachOf(localAddress, address))) }))
    .toSorted((a, b) => a.port - b.port)
}

const EVERYWHERE = ['0.0.0.0', '::']

function reachOf(localAddress: string, address: string): Listener['reach'] {
  if (EVERYWHERE.includes(localAddress) || (localAddress === address && !address.startsWith('127.'))) return 'address'
  return localAddress.startsWith('127.') ? 'loopback' : 'nowhere'
}

const bestOf = (all: readonly Listener['reach'][]): Listener['reach'] =>
  (['address', 'loopback'] as const).find((reach) => all.includes(reach)) ?? 'nowhere'

/** An app may have any number of processes and descriptors; one that listens has so much beside it seldom. */
const MOST_PROCESSES = 64
const MOST_DESCRIPTORS = 2000

function socketInodesOf(pids: readonly number[]): Set<number> {
  const links = pids.slice(0, MOST_PROCESSES).flatMap((pid) => descriptorsOf(pid).map((name) => linkAt(`/proc/${pid}/fd/${name}`)))
  return new Set(links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []).map(Number))
}

function descriptorsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).slice(0, MOST_DESCRIPTORS)
  } catch {
    return []
  }
}

function linkAt(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}
