const SECOND_MS = 1000

let second = Number.NaN
let text = ''

export function httpDate(): string {
  const now = Math.floor(Date.now() / SECOND_MS)
  if (now !== second) {
    second = now
    text = new Date(now * SECOND_MS).toUTCString()
  }
  return text
}
