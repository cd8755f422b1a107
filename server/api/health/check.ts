import type { Health } from '../../../shared/health.ts'
import { unlessAborted } from '../../platform/work/unless-aborted.ts'

export type HealthState = Health['status']

export interface Component {
  name: string
  /** State of the platform without this part: `down` where nothing works, `degraded` where the rest goes on. */
  without: 'degraded' | 'down'
  probe(signal: AbortSignal): unknown
}

export interface ComponentHealth {
  name: string
  status: HealthState
}

export interface HealthReport {
  status: HealthState
  components: ComponentHealth[]
}

export const PROBE_TIMEOUT_MS = 2000
/** Strangers may ask, so they get the last answer again for this long. */
const FRESH_MS = 1000

export function createHealthCheck(components: readonly Component[], now: () => number): () => Promise<HealthReport> {
  let latest: Promise<HealthReport> | undefined
  let askedAt = 0
  return () => {
    if (latest === undefined || now() - askedAt >= FRESH_MS) {
      askedAt = now()
      latest = checkAll(components)
    }
    return latest
  }
}

async function checkAll(components: readonly Component[]): Promise<HealthReport> {
  const states = await Promise.all(components.map(async (component) => ({ component, isWell: await isWell(component) })))
  const failed = states.filter((state) => !state.isWell).map((state) => state.component.without)
  return {
    status: failed.includes('down') ? 'down' : failed.length > 0 ? 'degraded' : 'ok',
    components: states.map(({ component, isWell: ok }) => ({ name: component.name, status: ok ? 'ok' : 'down' })),
  }
}

/** A probe that hangs counts as failed; what it says on failure stays inside, because strangers read the report. */
async function isWell({ probe }: Component): Promise<boolean> {
  const signal = AbortSignal.timeout(PROBE_TIMEOUT_MS)
  const probed = async () => await probe(signal)
  try {
    await unlessAborted(probed(), signal)
    return true
  } catch {
    return false
  }
}
