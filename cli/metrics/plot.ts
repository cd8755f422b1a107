import type { Paint } from '../terminal/paint.ts'

/** One line of a plot: points in the order of time. */
export interface PlotLine {
  points: readonly { atMs: number; value: number }[]
  colour?: keyof Paint
}

export interface PlotSpace {
  width: number
  height: number
  fromMs: number
  toMs: number
  /** Points further apart are not joined: nothing was measured in between. */
  joinedMs: number
  paint: Paint
  format(value: number): string
}

/** Dots of a braille letter, by row and column: each is a bit of its code (Unicode, Braille Patterns). */
const DOTS = [
  [0x01, 0x08],
  [0x02, 0x10],
  [0x04, 0x20],
  [0x40, 0x80],
] as const
const BLANK = 0x2800
const MIN_CELLS = 8

interface Cell {
  dots: number
  colour: keyof Paint | undefined
}

/** A chart of braille dots over an axis that begins at zero. Returns its lines. */
export function plot(lines: readonly PlotLine[], space: PlotSpace): string[] {
  const top = niceTop(Math.max(0, ...lines.flatMap(({ points }) => points.map(({ value }) => value))))
  const ticks = [top, top / 2, 0].map(space.format)
  const axisWidth = Math.max(...ticks.map((tick) => tick.length))
  const columns = Math.max(MIN_CELLS, space.width - axisWidth - 2)
  const cells = Array.from({ length: space.height }, () => Array.from({ length: columns }, (): Cell => ({ dots: 0, colour: undefined })))
  for (const line of lines) draw(cells, line, { ...space, top, columns })
  const label = (row: number): string => {
    const [high = '', middle = '', low = ''] = ticks
    if (row === 0) return high
    if (row === space.height - 1) return low
    return row === Math.floor((space.height - 1) / 2) ? middle : ''
  }
  return [
    ...cells.map((row, index) => `${space.paint.dim(`${label(index).padStart(axisWidth)} ┤`)}${rowOf(row, space.paint)}`.trimEnd()),
    space.paint.dim(`${' '.repeat(axisWidth + 2)}${timeAxis(space.fromMs, space.toMs, columns)}`),
  ]
}

function draw(cells: Cell[][], { points, colour }: PlotLine, space: PlotSpace & { top: number; columns: number }): void {
  const { fromMs, toMs, top, columns, height, joinedMs } = space
  const lastX = columns * 2 - 1
  const lastY = height * 4 - 1
  const xOf = (atMs: number) => Math.round(((atMs - fromMs) / Math.max(1, toMs - fromMs)) * lastX)
  const yOf = (value: number) => Math.round((1 - value / top) * lastY)
  const set = (x: number, y: number) => {
    const cell = cells[Math.floor(y / 4)]?.[Math.floor(x / 2)]
    const dot = DOTS[y % 4]?.[x % 2]
    if (cell === undefined || dot === undefined) return
    cell.dots |= dot
    cell.colour ??= colour
  }
  for (const [index, { atMs, value }] of points.entries()) {
    const before = points[index - 1]
    if (before === undefined || atMs - before.atMs > joinedMs) set(xOf(atMs), yOf(value))
    else segment({ x: xOf(before.atMs), y: yOf(before.value) }, { x: xOf(atMs), y: yOf(value) }, set)
  }
}

function segment(from: { x: number; y: number }, to: { x: number; y: number }, set: (x: number, y: number) => void): void {
  const steps = Math.max(Math.abs(to.x - from.x), Math.abs(to.y - from.y), 1)
  for (let step = 0; step <= steps; step++) {
    set(Math.round(from.x + ((to.x - from.x) * step) / steps), Math.round(from.y + ((to.y - from.y) * step) / steps))
  }
}

function rowOf(row: readonly Cell[], paint: Paint): string {
  let text = ''
  for (let start = 0; start < row.length; ) {
    const colour = row[start]?.colour
    let end = start
    while (end < row.length && row[end]?.colour === colour) end++
    const letters = row.slice(start, end).map(({ dots }) => (dots === 0 ? ' ' : String.fromCharCode(BLANK + dots)))
    text += colour === undefined ? letters.join('') : paint[colour](letters.join(''))
    start = end
  }
  return text
}

/** The next of 1, 1.5, 2, 2.5, 3, 4, 5, 6, 8 times a power of ten. */
function niceTop(max: number): number {
  if (!(max > 0)) return 1
  const power = 10 ** Math.floor(Math.log10(max))
  return power * ([1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].find((factor) => factor * power >= max) ?? 10)
}

const DAY_MS = 86_400_000

function timeAxis(fromMs: number, toMs: number, columns: number): string {
  const isShort = toMs - fromMs <= 2 * DAY_MS
  const text = (atMs: number): string => {
    const local = new Date(atMs - new Date(atMs).getTimezoneOffset() * 60_000).toISOString()
    return isShort ? local.slice(11, 16) : local.slice(0, 10)
  }
  const [begin, middle, end] = [text(fromMs), text((fromMs + toMs) / 2), text(toMs)]
  const free = columns - begin.length - middle.length - end.length
  if (free < 4) return begin + ' '.repeat(Math.max(1, columns - begin.length - end.length)) + end
  return begin + ' '.repeat(Math.floor(free / 2)) + middle + ' '.repeat(Math.ceil(free / 2)) + end
}
