/** One word of a shell command line, whatever it holds. */
export function shellWord(value: string): string {
  return /^[\w./:@%+=-]+$/.test(value) && !value.startsWith('-') ? value : `'${value.replaceAll("'", `'\\''`)}'`
}
