import type { ServiceCreate } from '../../../../shared/service.ts'

export type Kind = Omit<ServiceCreate, 'name'>

const web = (details: ServiceCreate['serviceDetails'] = {}): Kind => ({
  type: 'web_service',
  serviceDetails: { maxShutdownDelaySeconds: 2, ...details },
})

/** Services of every way in which the planner works. */
export const kinds = {
  several: web({ numInstances: 2 }),
  checked: web({ healthCheckPath: '/health' }),
  freezing: web({ sleep: { mode: 'freeze', idleSeconds: 60 } }),
  stopping: web({ sleep: { mode: 'stop', idleSeconds: 60 } }),
  worker: { type: 'background_worker', serviceDetails: { maxShutdownDelaySeconds: 2, numInstances: 2 } },
  withDisk: web({ disk: { name: 'data', mountPath: '/var/data', sizeGB: 1 } }),
} as const satisfies Record<string, Kind>
