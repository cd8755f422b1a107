import type { Paint } from './paint.ts'
import { cleanText } from './text.ts'

export interface Column<Row> {
  title: string
  value: (row: Row) => string
  align?: 'right'
  colour?: (row: Row) => keyof Paint | undefined
  /** Given up first when the terminal is too narrow: shortened to no less than `MIN_FLEXIBLE`. */
  isFlexible?: true
}

export interface TableStyle {
  paint: Paint
  columns?: number
}

const GAP = '  '
const MIN_FLEXIBLE = 8

export function formatTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[], style: TableStyle): string {
  const titles = columns.map(({ title }) => cleanText(title))
  const cells = rows.map((row) => columns.map((column) => cleanText(column.value(row))))
  const widths = narrow(
    titles.map((title, index) => cells.reduce((width, line) => Math.max(width, widthOf(line[index] ?? '')), widthOf(title))),
    columns.map((column) => column.isFlexible === true),
    style.columns,
  )
  const lineOf = (texts: string[], colourOf: (column: Column<Row>) => keyof Paint | undefined) =>
    columns
      .map((column, index) => {
        const text = pad(texts[index] ?? '', widths[index] ?? 0, column.align === 'right')
        const colour = colourOf(column)
        return colour === undefined ? text : style.paint[colour](text)
      })
      .join(GAP)
      .trimEnd()
  const head = lineOf(titles, () => 'dim')
  return [head, ...cells.map((line, index) => lineOf(line, (column) => column.colour?.(rows[index] as Row)))]
    .map((line) => `${line}\n`)
    .join('')
}

/** Names and values below each other, for one thing. Empty values are left out. */
export function formatFields(fields: readonly (readonly [name: string, value: string | undefined])[], paint: Paint): string {
  const shown = fields.filter(([, value]) => value !== undefined && value !== '')
  const width = Math.max(0, ...shown.map(([name]) => name.length))
  return shown.map(([name, value]) => `${paint.dim(`${name}:`.padEnd(width + 1))} ${cleanText(value ?? '')}\n`).join('')
}

const widthOf = (text: string): number => Bun.stringWidth(text)

function narrow(widths: number[], isFlexible: boolean[], columns: number | undefined): number[] {
  if (columns === undefined) return widths
  const fitted = [...widths]
  for (let over = total(fitted) - columns; over > 0; over--) {
    const widest = fitted.reduce(
      (best, width, index) => (isFlexible[index] && width > (fitted[best] ?? 0) ? index : best),
      isFlexible.indexOf(true),
    )
    if (widest === -1 || (fitted[widest] ?? 0) <= MIN_FLEXIBLE) return fitted
    fitted[widest] = (fitted[widest] ?? 0) - 1
  }
  return fitted
}

const total = (widths: number[]): number => widths.reduce((sum, width) => sum + width, GAP.length * (widths.length - 1))

function pad(text: string, width: number, isRight: boolean): string {
  const cut = widthOf(text) > width ? `${shorten(text, width - 1)}…` : text
  const fill = ' '.repeat(Math.max(0, width - widthOf(cut)))
  return isRight ? fill + cut : cut + fill
}

function shorten(text: string, width: number): string {
  let kept = ''
  for (const letter of text) {
    if (widthOf(kept + letter) > width) break
    kept += letter
  }
  return kept
}
