import { $, bold, cyan, dim, green, red, yellow } from 'kleur/colors'

type Colour = (text: string) => string

export interface Paint {
  bold: Colour
  dim: Colour
  green: Colour
  red: Colour
  yellow: Colour
  cyan: Colour
}

const plain: Colour = (text) => text
const unpainted: Paint = { bold: plain, dim: plain, green: plain, red: plain, yellow: plain, cyan: plain }

/** Colours for a terminal that wants them; plain text for everything else. */
export function createPaint(isColoured: boolean): Paint {
  if (!isColoured) return unpainted
  // kleur guesses from the process's own stdout; we have decided.
  $.enabled = true
  return { bold, dim, green, red, yellow, cyan }
}
