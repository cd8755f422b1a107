import type { LogLevel } from '../../../shared/log.ts'
import { levelNamed } from './line.ts'

const LOOKED_AT_CHARACTERS = 512

const jsonLevel = /"(?:level|severity|lvl|loglevel|levelname)"\s*:\s*(?:"([A-Za-z]{1,12})"|(\d{1,2})\b)/i
const keyedLevel = /(?:^|\s)(?:level|lvl|severity)=["']?([A-Za-z]{1,12})\b/i
/** "ERROR: …", "[warn] …", "2026-01-31 09:30:00,123 INFO …": at the front, after nothing but dates, numbers and brackets. */
const leadingLevel = /^[\s\d:.,/+[\]()TZ-]*(?:[<([|]\s*)?([A-Za-z]{3,11})(?=[\s:\])>|]|$)/
const bracketedLevel = /[[(<]\s*([A-Za-z]{3,11})\s*[\])>]/

const colour = new RegExp(`${String.fromCharCode(27)}\\[[\\d;]*m`, 'g')

/** A leading word counts as a level when written as one: followed by a mark, or all in capitals. */
const isMarked = (word: string, next: string): boolean => ':])>|'.includes(next || ' ') || word === word.toUpperCase()

export function guessLevel(message: string): LogLevel {
  const start = message.length > LOOKED_AT_CHARACTERS ? message.slice(0, LOOKED_AT_CHARACTERS) : message
  const front = start.includes('\u001B') ? start.replace(colour, '') : start
  return (front.startsWith('{') ? levelOfJson(front) : levelOfText(front)) ?? 'info'
}

function levelOfJson(front: string): LogLevel | undefined {
  const [, word, number] = jsonLevel.exec(front) ?? []
  if (word !== undefined) return levelNamed(word)
  return number === undefined ? undefined : levelOfNumber(Number(number))
}

/** The numbers of pino and bunyan: 10 trace … 60 fatal. */
function levelOfNumber(number: number): LogLevel | undefined {
  if (number < 10) return undefined
  if (number < 30) return 'debug'
  if (number < 40) return 'info'
  if (number < 50) return 'warning'
  return number < 60 ? 'error' : 'critical'
}

function levelOfText(front: string): LogLevel | undefined {
  const leading = leadingLevel.exec(front)
  const word = leading?.[1]
  if (leading !== null && word !== undefined && isMarked(word, front.charAt(leading[0].length))) {
    const level = levelNamed(word)
    if (level !== undefined) return level
  }
  const elsewhere = keyedLevel.exec(front)?.[1] ?? bracketedLevel.exec(front.slice(0, 80))?.[1]
  return elsewhere === undefined ? undefined : levelNamed(elsewhere)
}
