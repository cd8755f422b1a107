import { closeSync, openSync, readSync } from 'node:fs'
import type { NamespaceHandles } from '../kernel/namespace-handles.ts'
import { batchOf, runTool } from './tools.ts'

/** A TCP socket of a namespace, out of /proc/<pid>/net/tcp (proc(5)). */
export interface TcpSocket {
  localAddress: string
  localPort: number
  remoteAddress: string
  isListening: boolean
  isOpen: boolean
  uid: number
  inode: number
}

const LISTENING = '0A'
/** Established, about to be (SYN_RECV), and those whose other side has said all it has to say (CLOSE_WAIT). */
const OPEN = ['01', '03', '08']

export function parseTcpTable(text: string): TcpSocket[] {
  return text
    .split('\n')
    .slice(1)
    .flatMap((line) => {
      const [, local = '', remote = '', state = '', , , , uid, , inode] = line.trim().split(/\s+/)
      const [localHex = '', portHex] = local.split(':')
      if (portHex === undefined) return []
      return {
        localAddress: addressIn(localHex),
        localPort: Number.parseInt(portHex, 16),
        remoteAddress: addressIn(remote.split(':')[0] ?? ''),
        isListening: state === LISTENING,
        isOpen: OPEN.includes(state),
        uid: Number(uid),
        inode: Number(inode),
      }
    })
}

const MAPPED = '0000000000000000FFFF0000'
const LOOPBACK_V6 = '00000000000000000000000001000000'

/** Each word of an address stands in the byte order of the machine, which is little-endian wherever Bun runs. */
function addressIn(hex: string): string {
  if (hex === LOOPBACK_V6) return '::1'
  const v4 = hex.startsWith(MAPPED) ? hex.slice(MAPPED.length) : hex
  if (v4.length !== 8) return '::'
  return [6, 4, 2, 0].map((at) => Number.parseInt(v4.slice(at, at + 2), 16)).join('.')
}

/** Some three thousand sockets: an app may have a hundred thousand, and the control plane has better things to do than to read of each. */
const MAX_TABLE_BYTES = 512 * 1024

export const socketsOf = (pid: number): TcpSocket[] => socketsIn(pid, MAX_TABLE_BYTES)

/** The beginning of a table, some four hundred sockets: this is asked several times a second of each instance that starts. */
const LISTENING_BYTES = 64 * 1024

export const listeningSocketsOf = (pid: number): TcpSocket[] => socketsIn(pid, LISTENING_BYTES).filter(({ isListening }) => isListening)

const socketsIn = (pid: number, maxBytes: number): TcpSocket[] =>
  ['tcp', 'tcp6'].flatMap((table) => parseTcpTable(readStart(`/proc/${pid}/net/${table}`, maxBytes)))

export function listensOnLoopbackOnly(sockets: readonly TcpSocket[], port: number): boolean {
  const listening = sockets.filter((socket) => socket.isListening && socket.localPort === port)
  return listening.length > 0 && listening.every(({ localAddress }) => localAddress.startsWith('127.'))
}

export async function leadToLoopback(network: Pick<NamespaceHandles, 'options'>, port: number): Promise<void> {
  const inside = ['nsenter', ...network.options]
  const rules = [
    'table ip loopback {}',
    'delete table ip loopback',
    'table ip loopback {',
    'chain arriving {',
    'type nat hook prerouting priority dstnat; policy accept;',
    `iifname "eth0" tcp dport ${port} dnat to 127.0.0.1`,
    '}',
    // Nothing else is remembered in here, where nobody counts it.
    'chain untracked {',
    'type filter hook prerouting priority raw; policy accept;',
    `iifname "eth0" tcp dport ${port} accept`,
    'notrack',
    '}',
    'chain unremembered {',
    'type filter hook output priority raw; policy accept;',
    `ip saddr 127.0.0.0/8 tcp sport ${port} accept`,
    'notrack',
    '}',
    '}',
  ]
  await runTool([...inside, 'tee', '/proc/sys/net/ipv4/conf/eth0/route_localnet'], '1')
  await runTool([...inside, 'nft', '-f', '-'], batchOf(rules))
}

/** The kernel makes up the text while it is read, so what is not read costs nothing. */
function readStart(path: string, maxBytes: number): string {
  let descriptor: number | undefined
  try {
    descriptor = openSync(path, 'r')
    const buffer = Buffer.allocUnsafe(maxBytes)
    let length = 0
    for (let count = -1; count !== 0 && length < maxBytes; length += count)
      count = readSync(descriptor, buffer, length, maxBytes - length, null)
    return buffer.toString('latin1', 0, length)
  } catch {
    return ''
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}
