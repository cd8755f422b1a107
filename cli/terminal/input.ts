import { Interrupted } from '../base/error.ts'

const CTRL_C = '\u0003'
const CTRL_D = '\u0004'

export async function readText(): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of process.stdin) text += decoder.decode(chunk as Uint8Array, { stream: true })
  return text + decoder.decode()
}

export interface Question {
  text: string
  isHidden: boolean
}

/** Asks, and reads the answer key by key. Raw mode comes before the question, so that no early key is shown by the terminal itself. */
export function readLine({ text, isHidden }: Question): Promise<string> {
  const { stdin, stderr } = process
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  let line = ''
  const onKeys = (keys: Buffer) => {
    for (const key of keys.toString('utf8')) {
      if (key === CTRL_C) return reject(new Interrupted())
      if (ends.has(key)) return resolve(line)
      const { edited, echo } = pressed(line, key)
      line = edited
      if (!isHidden) stderr.write(echo)
    }
  }
  stdin.setRawMode(true)
  stdin.on('data', onKeys)
  stdin.resume()
  stderr.write(`${text} `)
  return promise.finally(() => {
    stdin.off('data', onKeys)
    stdin.setRawMode(false)
    stdin.pause()
    stderr.write('\n')
  })
}

const ends = new Set(['\r', '\n', CTRL_D])
const erases = new Set(['\u007f', '\b'])

/** The line after a key, and what the screen shows of it. */
export function pressed(line: string, key: string): { edited: string; echo: string } {
  if (erases.has(key)) return { edited: [...line].slice(0, -1).join(''), echo: line === '' ? '' : '\b \b' }
  return key < ' ' ? { edited: line, echo: '' } : { edited: line + key, echo: key }
}
