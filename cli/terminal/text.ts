// Terminal sequences: CSI, then OSC and the other strings up to their end, then two-character escapes.
const sequences = new RegExp(
  [
    '(?:\\u001b\\[|\\u009b)[0-?]*[ -/]*[@-~]',
    '(?:\\u001b[\\]PX^_]|[\\u009d\\u0090\\u0098\\u009e\\u009f])[^\\u0007\\u001b\\u009c]*(?:\\u0007|\\u001b\\\\|\\u009c)',
    '\\u001b[ -/]*[0-~]',
  ].join('|'),
  'g',
)
// Control, bidirectional-override, invisible and line-separator characters; the tab alone may stay.
const unseen = '\\u007f-\\u009f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069\\ufeff'
const controls = new RegExp(`[\\u0000-\\u0008\\u000a-\\u001f${unseen}]`, 'g')
const unseenInJson = new RegExp(`[${unseen}]`, 'g')

/** Text that did not originate here, as it may be printed: one line that moves no cursor, and colours, renames and reorders nothing. */
export const cleanText = (text: string): string => text.replace(sequences, '').replace(/\n/g, ' ').replace(controls, '')

export const cleanLines = (text: string): string => text.split(/\r?\n/).map(cleanText).join('\n')

/** A sentence around values of the server: each inserted value is cleaned. */
export const clean = (parts: TemplateStringsArray, ...values: (string | number)[]): string =>
  parts.reduce((sentence, part, index) => sentence + cleanText(String(values[index - 1])) + part)

/** JSON in which control characters of any kind are escaped, so that it is inert on a terminal too. */
export const cleanJson = (value: unknown): string => escapeUnseen(JSON.stringify(value, null, 2))

export const cleanJsonLine = (value: unknown): string => escapeUnseen(JSON.stringify(value))

const escapeUnseen = (json: string): string =>
  json.replace(unseenInJson, (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`)
