/** What is done about a command that comes before anybody is named. */
export type Step = { kind: 'enter'; user: string } | { kind: 'answer'; text: string } | { kind: 'leave'; text: string }

const WRONG_PASS = '-WRONGPASS invalid username-password pair or user is disabled.'
const USER_WANTED = '-WRONGPASS this address is shared by many stores: name yours as the user, as in rediss://red-...:password@host\r\n'
const NO_AUTH = '-NOAUTH Authentication required.\r\n'
const NO_AUTH_HELLO =
  '-NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto> AUTH <user> <pass> option can be used to authenticate the client and select the RESP protocol version at the same time\r\n'

/** Only AUTH and HELLO with AUTH tell which store is meant; the rest is answered as by a server that wants a password. */
export function stepFor([name = '', ...words]: readonly string[]): Step {
  switch (name.toUpperCase()) {
    case '':
      return { kind: 'answer', text: '' }
    case 'AUTH':
      if (words.length === 2) return { kind: 'enter', user: words[0] ?? '' }
      return { kind: 'answer', text: words.length === 1 ? USER_WANTED : "-ERR wrong number of arguments for 'auth' command\r\n" }
    case 'HELLO':
      return helloStep(words)
    case 'QUIT':
      return { kind: 'leave', text: '+OK\r\n' }
    default:
      return { kind: 'answer', text: NO_AUTH }
  }
}

function helloStep(words: readonly string[]): Step {
  const [, ...options] = words
  for (let at = 0; at < options.length; at++) {
    const option = options[at]?.toUpperCase()
    const user = options[at + 1]
    if (option === 'AUTH' && user !== undefined && options[at + 2] !== undefined) return { kind: 'enter', user }
    if (option !== 'SETNAME') break
    at++
  }
  return { kind: 'answer', text: NO_AUTH_HELLO }
}

/** An error line: whatever would end it early is left out. */
export const errorLine = (text: string): string => `-ERR ${text.replace(/[^\x20-\x7e]/g, '')}\r\n`

export const noSuchStore = (): string => `${WRONG_PASS} There is no key-value store of this name here.\r\n`
