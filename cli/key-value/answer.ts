/** An answer as redis-cli shows it on a terminal: texts in quotes, numbers and nothing told from them, lists by number. */
export function formatAnswer(answer: unknown, indent = ''): string {
  if (answer === null || answer === undefined) return '(nil)'
  if (typeof answer === 'number' || typeof answer === 'bigint') return `(integer) ${answer}`
  if (typeof answer === 'boolean') return answer ? '(true)' : '(false)'
  if (typeof answer === 'string') return answer === 'OK' ? answer : JSON.stringify(answer)
  const items = Array.isArray(answer) ? answer : Object.entries(answer as Record<string, unknown>).flat()
  if (items.length === 0) return '(empty list)'
  const width = String(items.length).length
  return items
    .map((item, at) => {
      const number = `${String(at + 1).padStart(width)}) `
      return `${at === 0 ? '' : indent}${number}${formatAnswer(item, indent + ' '.repeat(number.length))}`
    })
    .join('\n')
}
