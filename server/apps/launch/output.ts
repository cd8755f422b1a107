import type { LoggedOutput } from '../../telemetry/logs/outputs.ts'

interface Writer {
  id: string
  serviceId: string
  deployId: string | null
}

/** The output of an instance or a job, which is named by its id. */
export const appOutputOf = ({ id, serviceId, deployId }: Writer): LoggedOutput => ({
  serviceId,
  name: id,
  instance: id,
  ...(deployId !== null && { deployId }),
  type: 'app',
})
