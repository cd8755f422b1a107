import type { AppContext } from '../context.ts'
import { diskOfService } from '../disks/store.ts'
import type { StoredService } from '../services/store.ts'
import type { JobSituation } from './plan.ts'

export const mayRun = (context: Pick<AppContext, 'db'>, service: StoredService): boolean =>
  service.suspendedAt === null && service.deletedAt === null && diskStateOf(context, service) === 'ready'

export function diskStateOf({ db }: Pick<AppContext, 'db'>, { id }: StoredService): JobSituation['disk'] {
  const { status } = diskOfService(db, id) ?? { status: 'available' }
  if (status === 'available') return 'ready'
  return status === 'creating' ? 'making' : 'changing'
}
