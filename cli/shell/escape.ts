/** What is typed after the escape has been looked for in it. */
export interface Typed {
  bytes: Uint8Array
  /** Enter ~ . was typed: leave at once, though the other side may hang. */
  isLeaving: boolean
}

/** Where the typing stands: at the start of a line, after a tilde there (which is held back), or anywhere else. */
type Place = 'line start' | 'tilde' | 'within'

const LINE_ENDS: ReadonlySet<number> = new Set([10, 13])
const TILDE = 126
const FULL_STOP = 46

/** Looks for ssh's escape in what is typed: `~.` at the start of a line leaves, `~~` there is one tilde. */
export function createEscape(): (bytes: Uint8Array) => Typed {
  let place: Place = 'line start'
  return (bytes) => {
    const passed: number[] = []
    for (const byte of bytes) {
      if (place === 'tilde' && byte === FULL_STOP) return { bytes: Uint8Array.from(passed), isLeaving: true }
      passed.push(...passedOn(place, byte))
      place = after(place, byte)
    }
    return { bytes: Uint8Array.from(passed), isLeaving: false }
  }
}

function passedOn(place: Place, byte: number): number[] {
  if (place === 'tilde') return byte === TILDE ? [TILDE] : [TILDE, byte]
  return place === 'line start' && byte === TILDE ? [] : [byte]
}

function after(place: Place, byte: number): Place {
  if (LINE_ENDS.has(byte)) return 'line start'
  return place === 'line start' && byte === TILDE ? 'tilde' : 'within'
}
