export const shortTypes = ['web', 'pserv', 'worker', 'cron', 'static'] as const

interface ServiceTypeTraits {
  /** Kind of its ids, as in shared/id.ts. */
  idKind: 'service' | 'cronJob'
  /** How Render's API calls it where a service is linked to something. */
  shortName: (typeof shortTypes)[number]
  /** A program is started, so there are variables, jobs and shells; otherwise the ingress serves files itself. */
  runsProgram: boolean
  /** Instances stand all the time, and can be scaled and restarted. */
  hasInstances: boolean
  /** The ingress leads to it: there is a public URL, and there may be domains and rules at the edge. */
  isRouted: boolean
  /** The ingress passes its requests on to instances: their answers can be watched, and they can be woken. */
  isProxied: boolean
  /** Its instances listen at a port. */
  listens: boolean
  /** Its instances choose that port, and other services see it. */
  choosesPort: boolean
  /** Runs come and go by a schedule. */
  isScheduled: boolean
  mayHaveDisk: boolean
}

const usual = {
  idKind: 'service',
  runsProgram: true,
  hasInstances: true,
  isRouted: false,
  isProxied: false,
  listens: false,
  choosesPort: false,
  isScheduled: false,
  mayHaveDisk: true,
} satisfies Omit<ServiceTypeTraits, 'shortName'>

/** What tells one type of service from another; code that goes by the type asks here. */
const table = {
  web_service: { ...usual, shortName: 'web', isRouted: true, isProxied: true, listens: true },
  private_service: { ...usual, shortName: 'pserv', listens: true, choosesPort: true },
  background_worker: { ...usual, shortName: 'worker' },
  // A cron job comes and goes, and a static site has no instance that could write: a disk goes with neither.
  cron_job: { ...usual, shortName: 'cron', idKind: 'cronJob', hasInstances: false, isScheduled: true, mayHaveDisk: false },
  static_site: { ...usual, shortName: 'static', runsProgram: false, hasInstances: false, isRouted: true, mayHaveDisk: false },
} satisfies Record<string, ServiceTypeTraits>

export type ServiceType = keyof typeof table
export const serviceTypes = Object.keys(table) as ServiceType[]
export const defaultServiceType: ServiceType = 'web_service'

/** What holds of services of a type. */
export const traitsOf = (type: ServiceType): ServiceTypeTraits => table[type]

type Trait = Exclude<keyof ServiceTypeTraits, 'idKind' | 'shortName'>

/** The types of which something holds, in the order of the table. */
export const typesWith = (trait: Trait): ServiceType[] => serviceTypes.filter((type) => table[type][trait])
