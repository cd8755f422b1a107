import { dirname, join, normalize } from 'node:path'
import type { Source } from './sources.ts'

/** One import of a file by another of the same layer; paths from the layer's folder on. */
export interface Import {
  from: string
  to: string
}

const specifier = /(?:from\s+|import\s*\(?\s*)['"](\.[^'"]+)['"]/g

/** Every import between files of a layer, of types and texts too. */
export function importsIn(sources: readonly Source[]): Import[] {
  return sources.flatMap(({ path: from, lines }) =>
    [...lines.join('\n').matchAll(specifier)]
      .map(([, path = '']) => ({ from, to: normalize(join(dirname(from), path)) }))
      .filter(({ to }) => !to.startsWith('..')),
  )
}

/** Imports between folders, as a map from each folder to those it imports from. */
export function foldersOf(imports: readonly Import[]): Map<string, Set<string>> {
  const folders = new Map<string, Set<string>>()
  for (const { from, to } of imports) {
    const [own, other] = [dirname(from), dirname(to)]
    const known = folders.get(own) ?? new Set()
    folders.set(own, known)
    if (own !== other) known.add(other)
  }
  return folders
}

/**
 * Strongly connected components of more than one node, each sorted: what imports itself through others.
 * Algorithm: R. Tarjan, "Depth-first search and linear graph algorithms", SIAM J. Comput. 1 (1972).
 */
export function knotsIn(graph: ReadonlyMap<string, ReadonlySet<string>>): string[][] {
  const index = new Map<string, number>()
  const low = new Map<string, number>()
  const stack: string[] = []
  const knots: string[][] = []

  function visit(node: string): void {
    index.set(node, index.size)
    low.set(node, index.get(node) ?? 0)
    stack.push(node)
    for (const next of graph.get(node) ?? []) {
      if (!index.has(next)) visit(next)
      if (stack.includes(next)) low.set(node, Math.min(low.get(node) ?? 0, low.get(next) ?? 0))
    }
    if (low.get(node) !== index.get(node)) return
    const knot = stack.splice(stack.indexOf(node))
    if (knot.length > 1) knots.push(knot.sort())
  }

  for (const node of graph.keys()) if (!index.has(node)) visit(node)
  return knots.sort((a, b) => (a[0] ?? '').localeCompare(b[0] ?? ''))
}
