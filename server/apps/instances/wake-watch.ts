import { followHeld } from '../../ingress/activator/follow-held.ts'
import { describeError } from '../../platform/server-log.ts'
import type { AppContext } from '../context.ts'
import { wake } from './sleep.ts'

export function watchHeld(context: AppContext): void {
  const { paths, stopping, log, work } = context
  const onHeld = (serviceIds: readonly string[]) => {
    if (stopping.aborted) return
    for (const serviceId of serviceIds) {
      wake(context, serviceId, 'request')
      work.poke('service', serviceId)
    }
  }
  followHeld({ controlSocketPath: paths.ingressSocket, signal: stopping, onHeld }).catch((error) => {
    if (!stopping.aborted) log.error('sleeping services are not woken', describeError(error))
  })
}
