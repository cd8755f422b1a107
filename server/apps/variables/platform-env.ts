import { isPlatformKey, type PlatformEnvVar } from '../../../shared/env.ts'
import { type ServiceType, traitsOf, typesWith } from '../../../shared/service-type.ts'
import type { AppContext } from '../context.ts'
import { diskEnv } from '../disks/workload.ts'
import { INTERNAL_PORT } from '../private-network/internal-port.ts'
import { hostOf, internalHostOf, urlOf } from '../services/addresses.ts'
import type { StoredService } from '../services/store.ts'

export interface PlatformFacts {
  port: number
  instanceId: string
  deployId: string
  secretsDir: string
}

interface PlatformVar {
  key: string
  description: string
  value(service: StoredService, facts: PlatformFacts, context: Pick<AppContext, 'config' | 'db' | 'hasCertificate'>): string
  isPerInstance?: true
  types?: readonly ServiceType[]
}

const reachable = typesWith('isProxied')
const listening = typesWith('listens')

/** The variables that the platform gives to every instance, one row each. They win over variables of the same name. */
const platformVars: PlatformVar[] = [
  {
    key: 'PORT',
    description: 'Port at which the app must listen, on all addresses or on loopback',
    value: (_, facts) => String(facts.port),
    isPerInstance: true,
  },
  { key: 'CPD_SERVICE_ID', description: 'Id of the service', value: (service) => service.id },
  { key: 'CPD_SERVICE_NAME', description: 'Name of the service', value: (service) => service.name },
  { key: 'CPD_SERVICE_TYPE', description: 'Type of the service', value: (service) => service.type },
  { key: 'CPD_INSTANCE_ID', description: 'Id of this instance or job', value: (_, facts) => facts.instanceId, isPerInstance: true },
  {
    key: 'CPD_DEPLOY_ID',
    description: 'Id of the deploy that this instance or job belongs to',
    value: (_, facts) => facts.deployId,
    isPerInstance: true,
  },
  {
    key: 'CPD_SECRETS_DIR',
    description: 'Folder that holds the secret files',
    value: (_, facts) => facts.secretsDir,
    isPerInstance: true,
  },
  {
    key: 'CPD_EXTERNAL_URL',
    description: 'Public URL of the service',
    value: (service, _, context) => urlOf(context, service.slug),
    types: reachable,
  },
  {
    key: 'CPD_EXTERNAL_HOSTNAME',
    description: 'Public host name of the service',
    value: (service, _, context) => hostOf(context, service.slug),
    types: reachable,
  },
  {
    key: 'CPD_INTERNAL_HOSTNAME',
    description: 'Host name by which services of its private network reach the service',
    value: (service) => internalHostOf(service),
    types: listening,
  },
]

const varsOf = (service: StoredService): PlatformVar[] => platformVars.filter(({ types }) => types?.includes(service.type) ?? true)

export function platformEnv(
  context: Pick<AppContext, 'config' | 'db' | 'hasCertificate'>,
  service: StoredService,
  facts: PlatformFacts,
): Record<string, string> {
  return Object.fromEntries(varsOf(service).map(({ key, value }) => [key, value(service, facts, context)]))
}

const perInstance: PlatformFacts = {
  port: 0,
  instanceId: '(own to each instance)',
  deployId: '(own to each deploy)',
  secretsDir: '(own to each release)',
}

const DISK_KEY = 'CPD_DISK_PATH'

/** What other variables of the service can refer to; null where each instance has its own. A private service names its port itself. */
export function givenBy(context: Pick<AppContext, 'config' | 'db' | 'hasCertificate'>, service: StoredService): Map<string, string | null> {
  const given = varsOf(service)
    .filter(({ key }) => isPlatformKey(key, service.type))
    .map(({ key, value, isPerInstance }) => [key, isPerInstance ? null : value(service, perInstance, context)] as const)
  return new Map([...given, [DISK_KEY, null]])
}

function portNote({ engine }: Pick<AppContext, 'engine'>, { type }: StoredService): string {
  if (!engine.capabilities.ownNetworks) return '(own to each instance)'
  return traitsOf(type).choosesPort ? `${INTERNAL_PORT}, unless you set PORT yourself` : String(INTERNAL_PORT)
}

/** The platform's variables for people: what differs between instances stands as a note in brackets. */
export function describePlatformEnv(
  context: Pick<AppContext, 'config' | 'db' | 'paths' | 'engine' | 'hasCertificate'>,
  service: StoredService,
): PlatformEnvVar[] {
  if (!traitsOf(service.type).runsProgram) return []
  const described = varsOf(service).map(({ key, description, value }) => ({
    key,
    description,
    value: key === 'PORT' ? portNote(context, service) : value(service, perInstance, context),
  }))
  const disk = Object.entries(diskEnv(context, service.id)).map(([key, value]) => ({ key, description: 'Folder of the disk', value }))
  return [...described, ...disk]
}
