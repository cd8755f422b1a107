import type { LoggedOutput } from '../../telemetry/logs/outputs.ts'

interface Writer {
  id: string
  serviceId: string
  deployId: string | null
}

export const appOutputOf = ({ id, serviceId, deployId }: Writer): LoggedOutput => ({
  ownerId: serviceId,
  name: id,
  instance: id,
  ...(deployId !== null && { deployId }),
  type: 'app',
})
