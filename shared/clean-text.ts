// Terminal sequences: CSI, then OSC and the other strings up to their end, then two-character escapes.
const sequences = new RegExp(
  [
    '(?:\\u001b\\[|\\u009b)[0-?]*[ -/]*[@-~]',
    '(?:\\u001b[\\]PX^_]|[\\u009d\\u0090\\u0098\\u009e\\u009f])[^\\u0007\\u001b\\u009c]*(?:\\u0007|\\u001b\\\\|\\u009c)',
    '\\u001b[ -/]*[0-~]',
  ].join('|'),
  'g',
)
/** Control, bidirectional-override, invisible and line-separator characters; the tab alone may stay. */
export const unseen = '\\u007f-\\u009f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069\\ufeff'
const controls = new RegExp(`[\\u0000-\\u0008\\u000a-\\u001f${unseen}]`, 'g')

/** Text that did not originate here, as it may be printed: one line that moves no cursor, and colours, renames and reorders nothing. */
export const cleanText = (text: string): string => text.replace(sequences, '').replace(/\n/g, ' ').replace(controls, '')
