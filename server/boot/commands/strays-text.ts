import type { ListedStray } from '../serve-socket/operations.ts'

const COLUMN_GAP = '  '
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

function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? []
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join(COLUMN_GAP)
      .trimEnd(),
  )
}
