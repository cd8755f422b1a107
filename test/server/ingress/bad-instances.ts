/** What an instance may get wrong, as the bytes it answers a request with. */
export interface BadAnswer {
  name: string
  /** Text is latin1. */
  bytes: string
  /**
   * `refused`: the client is told 502 and sees nothing of it. `cut`: the client gets a part and a broken connection, never the semblance
   * of a whole answer. Else the body that the client gets, as a whole answer and nothing more.
   */
  outcome: 'refused' | 'cut' | { body: string }
  /** What the instance does when it has sent that; default: nothing. */
  ending?: 'close' | 'reset'
  method?: 'HEAD'
}

const ok = (fields: readonly string[], body = ''): string =>
  `HTTP/1.1 200 OK\r\n${fields.map((field) => `${field}\r\n`).join('')}\r\n${body}`
const chunked = (body: string): string => ok(['Transfer-Encoding: chunked'], body)
/** What would be the next client's answer if it were taken for one. */
const poison = ok(['Content-Length: 6'], 'poison')

const refused: [name: string, bytes: string][] = [
  ['both a length and chunks', ok(['Content-Length: 3', 'Transfer-Encoding: chunked'], '0\r\n\r\n')],
  ['two lengths', ok(['Content-Length: 3', 'Content-Length: 3'], 'abc')],
  ['two differing lengths', ok(['Content-Length: 3', 'Content-Length: 9'], 'abc')],
  ['a list of lengths', ok(['Content-Length: 3, 3'], 'abc')],
  ['a negative length', ok(['Content-Length: -1'], 'abc')],
  ['a hexadecimal length', ok(['Content-Length: 0x3'], 'abc')],
  ['an empty length', ok(['Content-Length:'], 'abc')],
  ['a coding that is not chunked', ok(['Transfer-Encoding: gzip'], 'abc')],
  ['chunked before a tab', ok(['Transfer-Encoding: chunked\t'], '0\r\n\r\n')],
  ['two codings', ok(['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'], '0\r\n\r\n')],
  ['chunked, identity', ok(['Transfer-Encoding: chunked, identity'], '0\r\n\r\n')],
  ['chunks in HTTP/1.0', 'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
  ['Connection naming its length', ok(['Connection: Content-Length', 'Content-Length: 3'], 'abc')],
  ['a folded line', ok(['X: a', ' b', 'Content-Length: 3'], 'abc')],
  ['a space before a colon', ok(['Content-Length : 3'], 'abc')],
  ['a NUL', ok(['X: a\0b', 'Content-Length: 3'], 'abc')],
  ['a bare CR', ok(['X: a\rSet-Cookie: b', 'Content-Length: 3'], 'abc')],
  ['a bare LF', ok(['X: a\nSet-Cookie: b', 'Content-Length: 3'], 'abc')],
  ['lines ended by LF alone', 'HTTP/1.1 200 OK\nContent-Length: 3\n\nabc'],
  ['a line without a colon', ok(['nothing', 'Content-Length: 3'], 'abc')],
  ['another protocol', 'ICY 200 OK\r\n\r\n'],
  ['HTTP/2', 'HTTP/2 200\r\n\r\n'],
  ['HTTP/0.9', '<html>\r\n\r\n'],
  ['a status of two digits', 'HTTP/1.1 20 OK\r\n\r\n'],
  ['a status of 99', 'HTTP/1.1 099 Odd\r\n\r\n'],
  ['a status of 600', 'HTTP/1.1 600 Odd\r\n\r\n'],
  ['a control character in its reason', 'HTTP/1.1 200 O\x08K\r\n\r\n'],
  ['an empty line first', `\r\n${ok(['Content-Length: 3'], 'abc')}`],
  ['a change of protocol unasked', 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'],
  ['a header of 1 MB', ok([`X: ${'a'.repeat(1_000_000)}`, 'Content-Length: 3'], 'abc')],
  ['a thousand fields', ok([...Array.from({ length: 1000 }, (_, index) => `X-${index}: y`), 'Content-Length: 3'], 'abc')],
  ['a head that never ends', `HTTP/1.1 200 OK\r\n${'X: y\r\n'.repeat(20_000)}`],
]

const cut: [name: string, bytes: string, ending?: 'close' | 'reset'][] = [
  ['less than its length, and closes', ok(['Content-Length: 100'], 'only this'), 'close'],
  ['less than its length, and resets', ok(['Content-Length: 100'], 'only this'), 'reset'],
  ['less than its length, and waits', ok(['Content-Length: 100'], 'only this')],
  ['chunks without an end, and closes', chunked('3\r\nabc\r\n'), 'close'],
  ['chunks that end within one', chunked('64\r\nabc'), 'close'],
  ['chunks that end within a size', chunked('3\r\nabc\r\n6'), 'close'],
  ['chunks that end within the last CRLF', chunked('3\r\nabc\r\n0\r\n'), 'close'],
  ['chunks without an end, and waits', chunked('3\r\nabc\r\n')],
  ['a chunk size that is none', chunked('3\r\nabc\r\nxyz\r\n')],
  ['a chunk longer than its size', chunked('3\r\nabcdef\r\n0\r\n\r\n')],
  ['chunks ended by LF alone', chunked('3\nabc\n0\n\n')],
  ['a length as a trailer', chunked('3\r\nabc\r\n0\r\nContent-Length: 3\r\n\r\n')],
  ['trailers without end', chunked(`3\r\nabc\r\n0\r\n${'X: y\r\n'.repeat(5000)}`)],
  ['a body without a length, and resets', ok([], 'some of it'), 'reset'],
]

const passed: [name: string, bytes: string, body: string, method?: 'HEAD'][] = [
  ['more than its length', ok(['Content-Length: 3'], `abc${poison}`), 'abc'],
  ['another answer behind its chunks', chunked(`3\r\nabc\r\n0\r\n\r\n${poison}`), 'abc'],
  ['a body with its 204', `HTTP/1.1 204 No Content\r\nContent-Length: ${poison.length}\r\n\r\n${poison}`, ''],
  ['a body with its 304', `HTTP/1.1 304 Not Modified\r\nContent-Length: ${poison.length}\r\n\r\n${poison}`, ''],
  ['a body to HEAD', ok([`Content-Length: ${poison.length}`], poison), '', 'HEAD'],
  ['ten 1xx first', 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(10) + ok(['Content-Length: 3'], 'abc'), 'abc'],
]

export const badAnswers: readonly BadAnswer[] = [
  ...refused.map(([name, bytes]): BadAnswer => ({ name, bytes, outcome: 'refused' })),
  { name: 'half a head, and closes', bytes: 'HTTP/1.1 200 OK\r\nX: ', outcome: 'refused', ending: 'close' },
  { name: 'half a head, and resets', bytes: 'HTTP/1.1 200 OK\r\nX: ', outcome: 'refused', ending: 'reset' },
  { name: 'half a head, and waits', bytes: 'HTTP/1.1 200 OK\r\nX: ', outcome: 'refused' },
  { name: 'eleven 1xx', bytes: 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(11) + ok(['Content-Length: 3'], 'abc'), outcome: 'refused' },
  { name: 'a 100 that has a body', bytes: `HTTP/1.1 100 Continue\r\nContent-Length: 6\r\n\r\npoison${poison}`, outcome: 'refused' },
  ...cut.map(([name, bytes, ending]): BadAnswer => ({ name, bytes, outcome: 'cut', ...(ending !== undefined && { ending }) })),
  ...passed.map(([name, bytes, body, method]): BadAnswer => ({ name, bytes, outcome: { body }, ...(method !== undefined && { method }) })),
]
