import type { ListedStray } from '../serve-socket/operations.ts'
import { aligned } from './aligned.ts'

const WHAT_THEY_ARE =
  'The database does not know them, as after an older one was put back. They get no requests. To keep them, put the right database back;\n' +
  'to end them now, use `cpd strays end`.'

export const summaryOf = ({ length }: readonly ListedStray[]): string =>
  `${length === 1 ? '1 workload runs' : `${length} workloads run`} here that the database does not know: see \`cpd strays\``

export function renderStrays(strays: readonly ListedStray[]): string {
  if (strays.length === 0) return 'No strays: the database knows everything that runs.\n'
  const rows = strays.map(({ id, serviceId, serviceName, foundAt, endsAt }) => [id, serviceName ?? serviceId, foundAt, endsAt])
  return [...aligned([['STRAY', 'SERVICE', 'FOUND', 'IS ENDED'], ...rows]), '', WHAT_THEY_ARE, ''].join('\n')
}
