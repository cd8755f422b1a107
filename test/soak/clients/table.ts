export type Way = 'inside' | 'outside'

/** What became of one client at one way. */
export interface Found {
  client: string
  way: Way
  checks: { name: string; problem?: string }[]
}

/** A row for each client and way, a column for each check: `ok`, `FAIL`, or nothing where the client has no such thing. */
export function renderTable(found: readonly Found[]): string {
  const names = [...new Set(found.flatMap(({ checks }) => checks.map(({ name }) => name)))]
  const cellOf = ({ checks }: Found, name: string): string => {
    const check = checks.find((one) => one.name === name)
    if (check === undefined) return ''
    return check.problem === undefined ? 'ok' : 'FAIL'
  }
  const rows = [['client', 'way', ...names], ...found.map((one) => [one.client, one.way, ...names.map((name) => cellOf(one, name))])]
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')).join('\n')
}
