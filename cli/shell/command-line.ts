/** One word after `--` is a command line as it stands (`-- 'echo $HOME | wc -c'`), several are a program and its arguments. */
export const commandLine = (words: readonly string[]): string => (words.length === 1 ? (words[0] ?? '') : words.map(quoted).join(' '))

const quoted = (word: string): string => (/^[A-Za-z0-9_./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)
