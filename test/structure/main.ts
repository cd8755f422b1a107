/** Figures of how the code is laid out: `bun test/structure/main.ts [DIR]`, of this checkout or of another, older ones included. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { arrowsUpward, figuresOf, groupOf, type Spread, spreadOf } from './figures.ts'
import { functionLines } from './functions.ts'
import { levelOf } from './groups.ts'
import { type Import, importsIn } from './imports.ts'
import { type Source, sourcesIn } from './sources.ts'

const columns = ['', 'folders', 'knotted', 'upward', 'files', 'lines', 'file', 'function', 'comments', 'dangling', 'copies'] as const

function rowOf(name: string, sources: readonly Source[], imports: readonly Import[]): string[] {
  const figures = figuresOf(sources, imports)
  const own = new Set(sources.map(({ path }) => path))
  const functions = spreadOf(sources.flatMap(({ lines }) => functionLines(lines.join('\n'))))
  return [
    name,
    String(figures.folders),
    String(figures.knotted),
    String(arrowsUpward(imports.filter(({ from }) => own.has(from))).length),
    String(figures.files),
    String(figures.lines),
    spreadText(figures.fileLines),
    spreadText(functions),
    `${(100 * figures.comments).toFixed(1)} %`,
    String(figures.dangling),
    figures.copies.toFixed(1),
  ]
}

const spreadText = ({ p50, p90, max }: Spread): string => `${p50} / ${p90} / ${max}`

function rowsOf(root: string, layer: string): string[][] {
  const sources = sourcesIn(join(root, layer))
  const imports = importsIn(sources)
  const whole = rowOf(layer, sources, imports)
  if (layer !== 'server') return [whole]
  const groups = [...Map.groupBy(sources, ({ path }) => groupOf(path))]
  const ordered = groups.toSorted(([one], [other]) => (levelOf(one) ?? 0) - (levelOf(other) ?? 0) || one.localeCompare(other))
  return [whole, ...ordered.map(([name, members]) => rowOf(`server/${name}`, members, imports))]
}

const root = process.argv[2] ?? join(import.meta.dirname, '../..')
const rows = ['server', 'cli', 'shared', 'test'].filter((layer) => existsSync(join(root, layer))).flatMap((layer) => rowsOf(root, layer))
const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
console.log([line(columns), line(columns.map(() => '---')), ...rows.map(line)].join('\n'))
console.log(`
knotted: folders in cycles of imports, types included. upward: imports of a group by one below or beside it, 0 where there are no groups.
file, function: lines, p50 / p90 / max. dangling: comments that begin with Of, That of, The same, It, Those, Also, As, Whether it.
copies: lines in runs of ten equal ones, for each thousand lines.`)
