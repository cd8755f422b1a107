import { cleanText, unseen } from '../../shared/clean-text.ts'

export { cleanText }

const unseenInJson = new RegExp(`[${unseen}]`, 'g')

export const cleanLines = (text: string): string => text.split(/\r?\n/).map(cleanText).join('\n')

/** A sentence around values of the server: each inserted value is cleaned. */
export const clean = (parts: TemplateStringsArray, ...values: (string | number)[]): string =>
  parts.reduce((sentence, part, index) => sentence + cleanText(String(values[index - 1])) + part)

/** JSON in which control characters of any kind are escaped, so that it is inert on a terminal too. */
export const cleanJson = (value: unknown): string => escapeUnseen(JSON.stringify(value, null, 2))

export const cleanJsonLine = (value: unknown): string => escapeUnseen(JSON.stringify(value))

const escapeUnseen = (json: string): string =>
  json.replace(unseenInJson, (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`)
