/** Takes out of remaining.json what has been mended, and lowers what has become better: `bun test/structure/tighten.ts`. */
import { join } from 'node:path'
import { measure } from './measured.ts'
import { limits, stillBeyond } from './remaining.ts'

const measured = measure(join(import.meta.dirname, '../..'))
const tightened = Object.entries(stillBeyond).map(([kind, known]) => {
  const name = kind as keyof typeof limits
  const kept = Object.entries(known).map(([unit, most]): [string, number] => [unit, Math.min(most, measured[name][unit] ?? 0)])
  return [name, Object.fromEntries(kept.filter(([, figure]) => figure > limits[name]))]
})
await Bun.write(join(import.meta.dirname, 'remaining.json'), `${JSON.stringify(Object.fromEntries(tightened), null, 2)}\n`)
