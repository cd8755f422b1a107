import type { KeyValueConnectionInfo } from '../../../../shared/key-value.ts'
import { usualPorts } from '../../datastores/addresses.ts'

/** Where stores are reached from outside: one name and port for all, as the user of the first command says which. */
export interface WayIn {
  host: string
  port: number
}

/** Passwords are letters and digits, which stand in URLs and command lines as they are. */
export function connectionStrings({ id, password }: { id: string; password: string }, way: WayIn | undefined): KeyValueConnectionInfo {
  const internalConnectionString = `redis://${id}:${password}@${id}:${usualPorts.key_value}`
  if (way === undefined) return { internalConnectionString, externalConnectionString: '', cliCommand: '' }
  const { host, port } = way
  return {
    internalConnectionString,
    externalConnectionString: `rediss://${id}:${password}@${host}:${port}`,
    cliCommand: `REDISCLI_AUTH=${password} redis-cli --user ${id} -h ${host} -p ${port} --tls`,
  }
}
