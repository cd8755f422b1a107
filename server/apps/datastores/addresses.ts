import type { AppContext } from '../context.ts'
import type { DatastoreKind, StoredDatastore } from './store.ts'

interface HostAndPort {
  host: string
  port: number
}

/** Ports at which siblings and clients look for a server of this kind. */
export const usualPorts: Readonly<Record<DatastoreKind, number>> = { postgres: 5432, key_value: 6379 }

/** Where it is reached from outside; undefined where this machine lets nobody in to databases of its kind. */
export function externalAddressOf(
  { config }: Pick<AppContext, 'config'>,
  { id, kind }: Pick<StoredDatastore, 'id' | 'kind'>,
): HostAndPort | undefined {
  const listen = kind === 'postgres' ? config.CP_INGRESS_POSTGRES : config.CP_INGRESS_KEY_VALUE
  return listen && { host: kind === 'postgres' ? `${id}.${config.CP_BASE_DOMAIN}` : keyValueHostOf({ config }), port: listen.port }
}

/** The name that leads past a database to its pooler, by the host of the database. */
export const poolHostOf = (host: string): string => host.replace('.', '-pooler.')

/** The name that all key-value stores share: the user tells which of them is meant. */
export const keyValueHostOf = ({ config }: Pick<AppContext, 'config'>): string => `kv.${config.CP_BASE_DOMAIN}`
