import { networkInterfaces } from 'node:os'

export interface HostService {
  name: string
  address: string
  port: number
}

const MOST = 200

export function parseHostService(text: string): HostService {
  const [, name, address = '', port] = /^([a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)=(\d{1,3}(?:\.\d{1,3}){3}):(\d{1,5})$/.exec(text) ?? []
  const isAddress = address.split('.').every((part) => Number(part) <= 255)
  if (name === undefined || !isAddress || Number(port) < 1 || Number(port) > 65_535)
    throw new Error(`"${text}" is not a name in lower case and an address of this machine, such as db=127.0.0.1:5432`)
  return { name, address, port: Number(port) }
}

/** The setting's texts as they are, each good. @throws Error naming the first that is not. */
export function checkHostServices(texts: readonly string[]): string[] {
  const names = texts.map((text) => parseHostService(text).name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw new Error(`"${twice}" stands there twice; give each port a name of its own`)
  if (names.length > MOST) throw new Error(`${names.length} are more than the ${MOST} there is room for`)
  return [...texts]
}

export function wrongHostService(services: readonly HostService[], keptPorts: readonly number[]): string | undefined {
  const own = Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address))
  for (const { name, address, port } of services) {
    if (!address.startsWith('127.') && !own.includes(address)) return `${name}: ${address} is not an address of this machine`
    if (keptPorts.includes(port)) return `${name}: port ${port} is the control plane's own`
  }
  return undefined
}

export const hostNameOf = ({ name }: HostService): string => `${name}.host.internal`
