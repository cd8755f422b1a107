/** A comment that has lines for itself. */
export interface Comment {
  /** Line on which it begins, from 1. */
  line: number
  lineCount: number
  text: string
}

/** Comments on lines of their own; successive `//` lines are one. Comments at the end of a line of code are not counted. */
export function commentsIn(lines: readonly string[]): Comment[] {
  const comments: Comment[] = []
  for (let at = 0; at < lines.length; at++) {
    const first = lines[at]?.trim() ?? ''
    const ends = first.startsWith('/*') ? endOfBlock : first.startsWith('//') ? endOfRun : undefined
    if (ends === undefined) continue
    const last = ends(lines, at)
    const text = lines
      .slice(at, last + 1)
      .map((line) =>
        line
          .trim()
          .replace(/^(\/\*+|\*+\/|\*(?= |$)|\/\/+)\s*/, '')
          .replace(/\s*\*+\/$/, ''),
      )
      .join(' ')
      .trim()
    comments.push({ line: at + 1, lineCount: last - at + 1, text })
    at = last
  }
  return comments
}

function endOfBlock(lines: readonly string[], first: number): number {
  const end = lines.findIndex((line, at) => at >= first && line.includes('*/'))
  return end === -1 ? lines.length - 1 : end
}

function endOfRun(lines: readonly string[], first: number): number {
  const end = lines.findIndex((line, at) => at > first && !line.trim().startsWith('//'))
  return (end === -1 ? lines.length : end) - 1
}

const dangling = /^(Of|That of|The same|It|Those|Also|As|Whether it)\b/

/** Whether a comment begins as if it went on with a sentence that is not there. */
export const isDangling = ({ text }: Comment): boolean => dangling.test(text)
