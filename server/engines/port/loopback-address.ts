/** Where instances are reached that share the machine's network, each at a port of its own. */
export const SHARED_ADDRESS = '127.0.0.1'

const FIRST = 256
const COUNT = 65_536 - 2 * FIRST

/**
 * Where a service is reached by its siblings when all share the machine's network: an address of this machine's loopback network by the
 * service's number. Two numbers share one only when they are 65,024 apart.
 */
export function loopbackAddress(serviceNumber: number): string {
  const offset = FIRST + (serviceNumber % COUNT)
  return `127.77.${offset >> 8}.${offset & 255}`
}
