import { type Column, formatTable } from '../terminal/table.ts'
import type { Context } from './context.ts'

/** Prints rows for people, fitted to the terminal; what goes into a file or pipe is never shortened. */
export function printTable<Row>(context: Pick<Context, 'io' | 'paint'>, columns: readonly Column<Row>[], rows: readonly Row[]): void {
  const { stdout } = context.io
  stdout.write(formatTable(columns, rows, { paint: context.paint, ...(stdout.isTty ? { columns: stdout.columns } : {}) }))
}

interface List<Page, Row> {
  page: readonly Page[]
  row: (item: Page) => Row
  columns: readonly Column<Row>[]
  empty: string
}

/** Prints a list of the API: as it came for scripts, as a table for people. */
export function printList<Page, Row>(context: Context, { page, row, columns, empty }: List<Page, Row>): void {
  if (context.isJson) context.printJson(page)
  else if (page.length === 0) context.note(empty)
  else printTable(context, columns, page.map(row))
}
