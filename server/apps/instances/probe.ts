import { traitsOf } from '../../../shared/service-type.ts'
import type { Listener } from '../../engines/port/port.ts'
import type { AppContext } from '../context.ts'
import { writeDeployLog } from '../deploys/deploy-log.ts'
import { releaseById } from '../deploys/release-store.ts'
import { deployById } from '../deploys/store.ts'
import { hostOf, internalHostOf } from '../services/addresses.ts'
import { type StoredService, serviceById } from '../services/store.ts'
import { instanceById, instancesOf, type StoredInstance, updateInstance } from '../workloads/instance-store.ts'
import { type HealthCheck, waitUntilHealthy } from './health.ts'
import { type PortWatch, watchPorts } from './port-watch.ts'

export async function probeInstance(context: AppContext, id: string, signal: AbortSignal): Promise<{ port: number } | undefined> {
  const instance = instanceById(context.db, id)
  const service = serviceById(context.db, instance?.serviceId ?? '')
  if (instance === undefined || service === undefined) return undefined
  const healthy = new AbortController()
  try {
    const check = checkOf(context, service, instance)
    const watching = hasPort(service)
      ? watchPorts(
          watchOf(context, service, { instance, check, expected: await toldPortOf(context, instance) }),
          AbortSignal.any([signal, healthy.signal]),
        )
      : undefined
    await Promise.race([waitUntilHealthy(check, signal), ...(watching === undefined ? [] : [watching.then(never)])])
    healthy.abort()
    await watching
    updateInstance(context.db, id, { misplaced: null })
    return { port: check.port }
  } finally {
    healthy.abort()
  }
}

/** The watch ends by itself only with the wait beside it, which then says why. */
const never = (): Promise<never> => new Promise(() => {})

const hasPort = ({ type }: StoredService): boolean => traitsOf(type).listens

function checkOf(context: AppContext, service: StoredService, { id, address, port, releaseId }: StoredInstance): HealthCheck {
  const { engine } = context
  const check: HealthCheck = {
    clock: context,
    dial: context.dial,
    type: service.type,
    address: address ?? '',
    port,
    path: releaseById(context.db, releaseId)?.settings.healthCheckPath ?? '',
    host: hostOf(context, service.slug),
    refused: async () => void (await engine.exposeLoopback?.(id, check.port)),
    // Another app may have taken the port while it was free.
    ...(!engine.capabilities.ownNetworks && { listens: async () => isReachedAt(check.port, await engine.listeners(id)) }),
  }
  return check
}

const isReachedAt = (port: number, listeners: readonly Listener[]): boolean =>
  listeners.some((one) => one.port === port && one.reach !== 'nowhere')

async function toldPortOf({ engine }: AppContext, { id, port }: StoredInstance): Promise<number> {
  const state = await engine.inspect(id)
  return (state?.status === 'running' ? state.endpoint?.port : undefined) ?? port
}

interface Watched {
  instance: StoredInstance
  check: HealthCheck
  expected: number
}

function watchOf(context: AppContext, service: StoredService, { instance, check, expected }: Watched): PortWatch {
  const { id } = instance
  const { db, engine } = context
  const isPrivate = traitsOf(service.type).choosesPort
  return {
    clock: context,
    expected,
    isPrivate,
    scan: () => engine.listeners(id),
    use(port, all) {
      if (check.port === port) return
      check.port = port
      updateInstance(db, id, { port })
      if (port !== expected) reportToDeploy(context, instance, isPrivate ? reachedAt(service, all) : ledTo(port, expected))
    },
    misplaced(reason) {
      updateInstance(db, id, { misplaced: reason ?? null })
      context.work.poke('service', service.id)
    },
    stillWaiting: (seconds, isListening) => reportToDeploy(context, instance, `${awaited(check, isListening)} (${seconds} s so far)`),
  }
}

const ledTo = (port: number, expected: number): string =>
  `It listens on port ${port} and not on $PORT (${expected}): requests are led to port ${port}`

const reachedAt = (service: StoredService, ports: readonly number[]): string =>
  `Other services of its private network reach it at ${ports
    .slice(0, MOST_NAMED)
    .map((port) => `${internalHostOf(service)}:${port}`)
    .join(', ')}`

const MOST_NAMED = 8

function awaited({ port, path, lastStatus }: HealthCheck, isListening: boolean): string {
  if (!isListening) return `Waiting for it to listen on port ${port} ($PORT); it listens on none yet`
  const answer = lastStatus === undefined || lastStatus === 0 ? 'it does not answer yet' : `it answered ${lastStatus}`
  return path === '' ? `Waiting for it to accept connections on port ${port}` : `Waiting for ${path} to answer 2xx or 3xx; ${answer}`
}

/** One instance speaks for all of its deploy, and only while that is on its way: afterwards its log is closed. */
function reportToDeploy(context: AppContext, { id, deployId, serviceId }: StoredInstance, text: string): void {
  const deploy = deployById(context.db, deployId)
  if (deploy === undefined || deploy.status !== 'update_in_progress') return
  const first = instancesOf(context.db, serviceId).find((one) => one.deployId === deployId && one.phase === 'starting')
  if (first?.id === id) writeDeployLog(context, deploy, text)
}
