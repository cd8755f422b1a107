import { join } from 'node:path'
import { figuresOf } from './figures.ts'
import { importsIn } from './imports.ts'
import type { limits } from './remaining.ts'
import { sourcesIn } from './sources.ts'

type Measured = Record<keyof typeof limits, Record<string, number>>

/** Today's figures of what has a limit, by layer, and of files by their paths. */
export function measure(root: string): Measured {
  const measured: Measured = { commentPercent: {}, danglingComments: {}, knottedFolders: {}, fileLines: {} }
  for (const layer of ['server', 'cli', 'shared', 'test']) {
    const sources = sourcesIn(join(root, layer))
    const { comments, dangling, knotted } = figuresOf(sources, importsIn(sources))
    measured.commentPercent[layer] = Math.round(1000 * comments) / 10
    measured.danglingComments[layer] = dangling
    measured.knottedFolders[layer] = knotted
    for (const { path, lines } of sources) measured.fileLines[`${layer}/${path}`] = lines.length
  }
  return measured
}
