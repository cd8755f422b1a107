/** What request smuggling is made of, as the bytes a client would send: each by itself on a connection of its own. */
export interface Payload {
  /** What it is about. */
  group: string
  name: string
  /** Text is latin1. */
  bytes: string
  /** How many requests may reach the instance; 0 where the first one already has to be refused. */
  arrives: number
}

/** The request that an attacker would like to slip through. */
const hidden = 'GET /smuggled HTTP/1.1\r\nHost: a.test\r\n\r\n'
const emptyChunks = '0\r\n\r\n'

const request = (line: string, fields: readonly string[], body = ''): string =>
  `${line}\r\n${fields.map((field) => `${field}\r\n`).join('')}\r\n${body}`
const get = (...fields: string[]): string => request('GET / HTTP/1.1', ['Host: a.test', ...fields])
const post = (fields: readonly string[], body: string): string => request('POST / HTTP/1.1', ['Host: a.test', ...fields], body)

type Rows = readonly (readonly [name: string, bytes: string, arrives?: number])[]

const bothLengths: Rows = [
  ['CL.TE', post(['Content-Length: 45', 'Transfer-Encoding: chunked'], emptyChunks + hidden)],
  ['TE.CL', post(['Transfer-Encoding: chunked', 'Content-Length: 4'], `28\r\n${hidden}\r\n${emptyChunks}`)],
  ['CL.TE with a length of zero', post(['Content-Length: 0', 'Transfer-Encoding: chunked'], emptyChunks + hidden)],
  ['CL with TE: identity', post(['Content-Length: 5', 'Transfer-Encoding: identity'], `hello${hidden}`)],
  ['CL with an empty TE', post(['Content-Length: 5', 'Transfer-Encoding:'], `hello${hidden}`)],
  ['CL with an obfuscated TE', post(['Content-Length: 5', 'Transfer-Encoding: xchunked'], `hello${hidden}`)],
  [
    'CL and TE in HTTP/1.0',
    request('POST / HTTP/1.0', ['Host: a.test', 'Content-Length: 5', 'Transfer-Encoding: chunked'], emptyChunks + hidden),
  ],
]

const coding = (value: string): string => post([`Transfer-Encoding:${value}`], emptyChunks + hidden)
const codings: Rows = [
  ['TE twice', post(['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'], emptyChunks + hidden)],
  ['TE chunked, then identity', post(['Transfer-Encoding: chunked', 'Transfer-Encoding: identity'], emptyChunks + hidden)],
  ['TE identity, then chunked', post(['Transfer-Encoding: identity', 'Transfer-Encoding: chunked'], emptyChunks + hidden)],
  ['TE: chunked, identity', coding(' chunked, identity')],
  ['TE: identity, chunked', coding(' identity, chunked')],
  ['TE: chunked, chunked', coding(' chunked, chunked')],
  ['TE: gzip, chunked', coding(' gzip, chunked')],
  ['TE: chunked, with a comma behind', coding(' chunked,')],
  ['TE: a comma, then chunked', coding(' ,chunked')],
  ['TE: xchunked', coding(' xchunked')],
  ['TE: chunkedx', coding(' chunkedx')],
  ['TE: chunked;q=1', coding(' chunked;q=1')],
  ['TE: "chunked"', coding(' "chunked"')],
  ['TE: chunked behind a vertical tab', coding(' \x0bchunked')],
  ['TE: chunked behind a form feed', coding(' \x0cchunked')],
  ['TE: chunked before a vertical tab', coding(' chunked\x0b')],
  ['TE: chunked behind a no-break space', coding(' \xa0chunked')],
  ['TE: chunked behind a NUL', coding(' \0chunked')],
  ['TE: chunked before a bare CR', coding(' chunked\r')],
  ['TE: chunked behind a bare LF', coding('\nchunked')],
  ['TE: chunked on a folded line', coding('\r\n chunked')],
  ['TE behind another name and a bare LF', post(['X: y\nTransfer-Encoding: chunked', 'Content-Length: 5'], `hello${hidden}`)],
  ['TE behind another name and a bare CR', post(['X: y\rTransfer-Encoding: chunked', 'Content-Length: 5'], `hello${hidden}`)],
  ['TE: chunked behind a tab', coding('\tchunked')],
  ['TE: chunked before a tab', coding(' chunked\t')],
  ['TE: ChUnKeD', coding(' ChUnKeD'), 2],
  ['TE: chunked without a space', coding('chunked'), 2],
  ['TE: chunked with spaces around', coding('   chunked  '), 2],
  ['TE in HTTP/1.0', request('POST / HTTP/1.0', ['Host: a.test', 'Transfer-Encoding: chunked'], emptyChunks + hidden)],
  ['TE with an underscore beside CL', post(['Content-Length: 5', 'Transfer_Encoding: chunked'], 'hello'), 1],
  ['TE with a space before its colon', post(['Transfer-Encoding : chunked'], emptyChunks + hidden)],
  ['TE with a tab before its colon', post(['Transfer-Encoding\t: chunked'], emptyChunks + hidden)],
  ['TE with a NUL in its name', post(['Transfer-\0Encoding: chunked'], emptyChunks + hidden)],
  ['TE behind a space', post(['X: y', ' Transfer-Encoding: chunked'], emptyChunks + hidden)],
]

const lengthOf = (value: string, body = `hello${hidden}`): string => post([`Content-Length:${value}`], body)
const lengths: Rows = [
  ['CL: +5', lengthOf(' +5')],
  ['CL: -1', lengthOf(' -1')],
  ['CL: 5, 5', lengthOf(' 5, 5')],
  ['CL: 5, 6', lengthOf(' 5, 6')],
  ['CL: 5 6', lengthOf(' 5 6')],
  ['CL twice and equal', post(['Content-Length: 5', 'Content-Length: 5'], `hello${hidden}`)],
  ['CL twice and differing', post(['Content-Length: 5', 'Content-Length: 45'], `hello${hidden}`)],
  ['CL differing, the greater first', post(['Content-Length: 45', 'Content-Length: 5'], `hello${hidden}`)],
  ['CL: 0x5', lengthOf(' 0x5')],
  ['CL: 5.0', lengthOf(' 5.0')],
  ['CL: 5e0', lengthOf(' 5e0')],
  ['CL: 1_0', lengthOf(' 1_0')],
  ['CL: 5;', lengthOf(' 5;')],
  ['CL: "5"', lengthOf(' "5"')],
  ['CL beyond 32 bits', lengthOf(' 4294967301')],
  ['CL beyond 64 bits', lengthOf(' 18446744073709551621')],
  ['CL: empty', lengthOf('')],
  ['CL: in Arabic digits', lengthOf(' \xd9\xa5')],
  ['CL: behind a vertical tab', lengthOf(' \x0b5')],
  ['CL on a folded line', lengthOf('\r\n 5')],
  ['CL with a space before its colon', post(['Content-Length : 5'], `hello${hidden}`)],
  ['CL: 005', lengthOf(' 005'), 2],
  ['CL with tabs around', lengthOf(' \t5\t ')],
  ['CL with spaces around', lengthOf('  5  '), 2],
  ['CL in HTTP/1.0', request('POST / HTTP/1.0', ['Host: a.test', 'Content-Length: 5'], `hello${hidden}`), 1],
  ['CL with an underscore', post(['Content_Length: 5'], hidden), 2],
  ['GET with a body', request('GET / HTTP/1.1', ['Host: a.test', 'Content-Length: 40'], hidden), 1],
  [
    'HEAD with a chunked body',
    request('HEAD / HTTP/1.1', ['Host: a.test', 'Transfer-Encoding: chunked'], `28\r\n${hidden}\r\n${emptyChunks}`),
    1,
  ],
  ['DELETE with a body', request('DELETE / HTTP/1.1', ['Host: a.test', 'Content-Length: 5'], 'hello'), 1],
  ['a whole request in a body', lengthOf(' 40', hidden), 1],
  ['a whole request behind a body', lengthOf(' 5'), 2],
]

const chunks = (body: string): string => post(['Transfer-Encoding: chunked'], body)
const chunkSizes: Rows = [
  ['a chunk size with a space behind', chunks(`5 \r\nhello\r\n${emptyChunks}`)],
  ['a chunk size with a space before', chunks(` 5\r\nhello\r\n${emptyChunks}`)],
  ['a chunk size with a tab behind', chunks(`5\t\r\nhello\r\n${emptyChunks}`)],
  ['a chunk size with 0x', chunks(`0x5\r\nhello\r\n${emptyChunks}`)],
  ['a chunk size with a plus', chunks(`+5\r\nhello\r\n${emptyChunks}`)],
  ['a negative chunk size', chunks(`-5\r\nhello\r\n${emptyChunks}`)],
  ['a negative last chunk', chunks(`5\r\nhello\r\n-0\r\n\r\n${hidden}`)],
  ['a chunk size beyond 32 bits', chunks(`100000005\r\nhello\r\n${emptyChunks}`)],
  ['a chunk size beyond 64 bits', chunks(`10000000000000005\r\nhello\r\n${emptyChunks}`)],
  ['a chunk size with an underscore', chunks(`0_5\r\nhello\r\n${emptyChunks}`)],
  ['a chunk size in letters beyond f', chunks(`g\r\nhello\r\n${emptyChunks}`)],
  ['an empty chunk size', chunks(`\r\nhello\r\n${emptyChunks}`)],
  ['a chunk size ended by LF alone', chunks(`5\nhello\r\n${emptyChunks}`)],
  ['a chunk size ended by CR alone', chunks(`5\rhello\r\n${emptyChunks}`)],
  ['a chunk size ended by CR CR LF', chunks(`5\r\r\nhello\r\n${emptyChunks}`)],
  ['a chunk ended by LF alone', chunks(`5\r\nhello\n${emptyChunks}`)],
  ['a chunk without its CRLF', chunks(`5\r\nhello${emptyChunks}${hidden}`)],
  ['a chunk longer than its size', chunks(`5\r\nhello!\r\n${emptyChunks}`)],
  ['a chunk shorter than its size', chunks(`6\r\nhello\r\n${emptyChunks}`)],
  ['a last chunk ended by LF alone', chunks(`5\r\nhello\r\n0\n\n${hidden}`)],
  ['a body ended by LF alone', chunks(`5\r\nhello\r\n0\r\n\n${hidden}`)],
  ['a body ended by anything', chunks(`5\r\nhello\r\n0\r\nXX${hidden}`)],
  ['a chunk size with leading zeros', chunks(`0005\r\nhello\r\n${emptyChunks}`), 1],
  ['a last chunk of many zeros', chunks('5\r\nhello\r\n00000\r\n\r\n'), 1],
  ['a whole request in a chunk', chunks(`28\r\n${hidden}\r\n${emptyChunks}`), 1],
]

const extensions: Rows = [
  ['TERM.EXT: an extension ended by LF alone', chunks(`2;\nxx\r\n4c\r\n0\r\n\r\n${hidden}`)],
  ['EXT.TERM: an LF within an extension', chunks(`2;a\nb\r\nxx\r\n${emptyChunks}`)],
  ['an extension ended by CR alone', chunks(`2;\rxx\r\n${emptyChunks}`)],
  ['an extension with a CR in it', chunks(`2;a\rb\r\nxx\r\n${emptyChunks}`)],
  ['an LF in a quoted extension', chunks(`2;a="\n"\r\nxx\r\n${emptyChunks}`)],
  ['a CRLF in a quoted extension', chunks(`2;a="\r\n${hidden}"\r\nxx\r\n${emptyChunks}`)],
  ['a NUL in an extension', chunks(`2;a=\0\r\nxx\r\n${emptyChunks}`)],
  ['a space before an extension', chunks(`2 ;a=b\r\nxx\r\n${emptyChunks}`)],
  ['an extension without a semicolon', chunks(`2 a=b\r\nxx\r\n${emptyChunks}`)],
  ['an endless extension', chunks(`2;${'a'.repeat(20_000)}\r\nxx\r\n${emptyChunks}`)],
  ['ONE.TWO: data ended by two bytes that are no CRLF', chunks(`2\r\nxxAB0\r\n\r\n${hidden}`)],
  ['TWO.ONE: data ended by LF and a size behind it', chunks(`2\r\nxx\n20\r\n${hidden}`)],
  ['a size line hidden in an extension', chunks(`2;0\r\nxx\r\n${emptyChunks}`), 1],
  ['a quoted extension with a semicolon', chunks(`2;a="b;c"\r\nxx\r\n0;z\r\n\r\n`), 1],
]

const trailer = (line: string): string => chunks(`5\r\nhello\r\n0\r\n${line}\r\n\r\n${hidden}`)
const trailers: Rows = [
  ['a trailer of Content-Length', trailer('Content-Length: 40')],
  ['a trailer of Transfer-Encoding', trailer('Transfer-Encoding: chunked')],
  ['a trailer of Host', trailer('Host: b.test')],
  ['a trailer of Connection', trailer('Connection: close')],
  ['a trailer that forges X-Forwarded-For', trailer('X-Forwarded-For: 127.0.0.1')],
  ['a trailer that forges X_Forwarded_For', trailer('X_Forwarded_For: 127.0.0.1')],
  ['a trailer without a name', trailer(': x')],
  ['a trailer without a colon', trailer('nothing')],
  ['a trailer with a space before its colon', trailer('X-Sum : 1')],
  ['a folded trailer', trailer('X-Sum: 1\r\n 2')],
  ['a trailer ended by LF alone', trailer('X-Sum: 1\nX-More: 2')],
  ['a trailer with a bare CR', trailer('X-Sum: 1\rX-More: 2')],
  ['a trailer with a NUL', trailer('X-Sum: \0')],
  ['trailers without end', chunks(`0\r\n${'X: y\r\n'.repeat(5000)}\r\n`)],
  ['a request line as a trailer', trailer('GET /smuggled HTTP/1.1')],
  ['a harmless trailer', trailer('X-Sum: 1'), 2],
]

const lines: Rows = [
  ['a space before a colon', get('X-A : b')],
  ['a tab before a colon', get('X-A\t: b')],
  ['a folded line', get('X-A: b', ' c: d')],
  ['a line folded by a tab', get('X-A: b', '\tc: d')],
  ['a first line that is folded', request('GET / HTTP/1.1', [' Host: a.test', 'Host: a.test'])],
  ['a line of blanks', get(' ')],
  ['a bare CR in a value', get('X-A: b\rX-B: c')],
  ['a bare LF in a value', get('X-A: b\nX-B: c')],
  ['a bare CR before a CRLF', get('X-A: b\r')],
  ['lines ended by LF alone', 'GET / HTTP/1.1\nHost: a.test\n\n'],
  ['lines ended by CR alone', 'GET / HTTP/1.1\rHost: a.test\r\r'],
  ['an empty line of LF alone', `GET / HTTP/1.1\r\nHost: a.test\r\n\n${hidden}`],
  ['LF CR instead of CRLF', 'GET / HTTP/1.1\n\rHost: a.test\n\r\n\r'],
  ['a NUL in a value', get('X-A: b\0c')],
  ['a NUL in a name', get('X-\0A: b')],
  ['a control character in a value', get('X-A: b\x08c')],
  ['DEL in a value', get('X-A: b\x7fc')],
  ['a byte above ASCII in a name', get('X-\xc3\xa9: b')],
  ['a name in brackets', get('X[A]: b')],
  ['a name with a comma', get('X,A: b')],
  ['an empty name', get(': b')],
  ['a line without a colon', get('X-A')],
  ['a byte above ASCII in a value', get('X-A: caf\xc3\xa9'), 1],
  ['an empty value', get('X-A:'), 1],
  ['the same name many times', get('X-A: 1', 'x-a: 2', 'X-a: 3'), 1],
]

const hosts: Rows = [
  ['no Host', request('GET / HTTP/1.1', ['X: y'])],
  ['no Host in HTTP/1.0', request('GET / HTTP/1.0', ['X: y'])],
  ['two Hosts', get('Host: b.test')],
  ['two equal Hosts', get('Host: a.test')],
  ['an empty Host', request('GET / HTTP/1.1', ['Host:'])],
  ['a list as Host', request('GET / HTTP/1.1', ['Host: a.test, b.test'])],
  ['a Host with a path', request('GET / HTTP/1.1', ['Host: a.test/b'])],
  ['a Host with a user', request('GET / HTTP/1.1', ['Host: b.test@a.test'])],
  ['a Host with a space', request('GET / HTTP/1.1', ['Host: a.test b.test'])],
  ['a Host with a port that is none', request('GET / HTTP/1.1', ['Host: a.test:80@b.test'])],
  ['a Host with a byte above ASCII', request('GET / HTTP/1.1', ['Host: a.test\xe9'])],
  ['a Host with a space before its colon', request('GET / HTTP/1.1', ['Host : a.test'])],
  ['a Host behind a folded line', request('GET / HTTP/1.1', ['X: y', ' Host: b.test', 'Host: a.test'])],
  ['a Host with an underscore beside the true one', get('Host_: b.test'), 1],
  ['a Host of another case, with port and dot', request('GET / HTTP/1.1', ['hOST: A.TEST.:80']), 1],
  ['an absolute target', request('GET http://a.test/ HTTP/1.1', ['Host: a.test'])],
  ['an absolute target of another host', request('GET http://b.test/ HTTP/1.1', ['Host: a.test'])],
  ['a target of an authority', request('GET a.test:80 HTTP/1.1', ['Host: a.test'])],
  ['CONNECT', request('CONNECT b.test:443 HTTP/1.1', ['Host: a.test'])],
  ['CONNECT with a path', request('CONNECT / HTTP/1.1', ['Host: a.test'])],
  ['TRACE', request('TRACE / HTTP/1.1', ['Host: a.test'])],
  ['a target with an authority in its path', request('GET //b.test/ HTTP/1.1', ['Host: a.test']), 1],
  ['a target with @ and :', request('GET /@b.test:80/ HTTP/1.1', ['Host: a.test']), 1],
]

const requestLines: Rows = [
  ['a fragment', request('GET /a#b HTTP/1.1', ['Host: a.test'])],
  ['a space in the target', request('GET /a b HTTP/1.1', ['Host: a.test'])],
  ['a second version in the line', request('GET / HTTP/1.1 HTTP/1.1', ['Host: a.test'])],
  ['two spaces', request('GET  / HTTP/1.1', ['Host: a.test'])],
  ['a tab for a space', request('GET\t/ HTTP/1.1', ['Host: a.test'])],
  ['a vertical tab for a space', request('GET /\x0bHTTP/1.1', ['Host: a.test'])],
  ['a space before the method', request(' GET / HTTP/1.1', ['Host: a.test'])],
  ['a space behind the version', request('GET / HTTP/1.1 ', ['Host: a.test'])],
  ['a CR in the target', request('GET /a\rb HTTP/1.1', ['Host: a.test'])],
  ['a NUL in the target', request('GET /a\0b HTTP/1.1', ['Host: a.test'])],
  ['a byte above ASCII in the target', request('GET /\xe9 HTTP/1.1', ['Host: a.test'])],
  ['an asterisk with GET', request('GET * HTTP/1.1', ['Host: a.test'])],
  ['no target', request('GET HTTP/1.1', ['Host: a.test'])],
  ['HTTP/0.9', 'GET /\r\n'],
  ['HTTP/0.9 with fields', request('GET /', ['Host: a.test'])],
  ['HTTP/1.2', request('GET / HTTP/1.2', ['Host: a.test'])],
  ['HTTP/2.0', request('GET / HTTP/2.0', ['Host: a.test'])],
  ['HTTP/1.10', request('GET / HTTP/1.10', ['Host: a.test'])],
  ['HTTP/01.1', request('GET / HTTP/01.1', ['Host: a.test'])],
  ['HTTP/1.1 in lower case', request('GET / http/1.1', ['Host: a.test'])],
  ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['a method with a NUL', request('G\0ET / HTTP/1.1', ['Host: a.test'])],
  ['a method with a colon', request('GET: / HTTP/1.1', ['Host: a.test'])],
  ['garbage first', `\x16\x03\x01\x02${get()}`],
  ['a line of garbage first', `garbage\r\n${get()}`],
  ['an empty line first', `\r\n${get()}`],
  ['an LF first', `\n${get()}`],
  ['many empty lines first', `${'\r\n'.repeat(1000)}${get()}`],
  ['a method nobody knows', request('QUIRK / HTTP/1.1', ['Host: a.test']), 1],
  ['a method in lower case', request('get / HTTP/1.1', ['Host: a.test']), 1],
  ['escapes in the target', request('GET /%0d%0aX:%20y/%2e%2e/%00 HTTP/1.1', ['Host: a.test']), 1],
]

const expectations: Rows = [
  ['0.CL: Expect and a request in the body', post(['Expect: 100-continue', 'Content-Length: 40'], hidden), 1],
  ['0.CL: Expect on a GET', request('GET / HTTP/1.1', ['Host: a.test', 'Expect: 100-continue', 'Content-Length: 40'], hidden), 1],
  ['CL.0: an obfuscated Expect', post(['Expect: y 100-continue', 'Content-Length: 40'], hidden), 1],
  ['Expect twice', post(['Expect: 100-continue', 'Expect: 100-continue', 'Content-Length: 5'], `hello${hidden}`), 2],
  ['Expect folded', post(['Expect:', ' 100-continue', 'Content-Length: 5'], `hello${hidden}`)],
  ['Expect before TE and CL', post(['Expect: 100-continue', 'Transfer-Encoding: chunked', 'Content-Length: 5'], emptyChunks + hidden)],
]

const hopByHop: Rows = [
  ['Connection: Host', get('Connection: Host')],
  ['Connection: Content-Length', post(['Connection: Content-Length', 'Content-Length: 40'], hidden)],
  ['Connection: Transfer-Encoding', post(['Connection: close, Transfer-Encoding', 'Transfer-Encoding: chunked'], emptyChunks + hidden)],
  ['Connection: content-LENGTH behind a tab', post(['Connection:\tcontent-LENGTH', 'Content-Length: 40'], hidden)],
  ['two Connections, one with Host', get('Connection: close', 'Connection: host')],
  ['Connection: X-Forwarded-For', get('Connection: close, X-Forwarded-For'), 1],
  ['Connection: X-Request-Id', get('Connection: close, X-Request-Id'), 1],
  ['Connection: Cookie', get('Connection: close, Cookie', 'Cookie: a=b'), 1],
  ['Upgrade: h2c', get('Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA'), 1],
  ['Upgrade: h2c in a list', get('Connection: Upgrade', 'Upgrade: websocket, h2c'), 1],
  ['Upgrade without Connection', get('Upgrade: websocket'), 1],
  ['Upgrade with a body', post(['Connection: Upgrade', 'Upgrade: websocket', 'Content-Length: 40'], hidden), 1],
  ['Upgrade of HTTP/1.0', request('GET / HTTP/1.0', ['Host: a.test', 'Connection: Upgrade', 'Upgrade: websocket']), 1],
  ['TE, Keep-Alive and Proxy-Connection', get('TE: gzip', 'Keep-Alive: timeout=9', 'Proxy-Connection: keep-alive'), 1],
]

const forgeries: Rows = [
  ['X-Forwarded-For', get('X-Forwarded-For: 127.0.0.1'), 1],
  ['X-Forwarded-For twice, in other cases', get('x-forwarded-for: 1', 'X-FORWARDED-FOR: 2'), 1],
  ['X-Forwarded-Proto and -Host', get('X-Forwarded-Proto: https', 'X-Forwarded-Host: b.test', 'X-Forwarded-Port: 1'), 1],
  ['Forwarded and X-Real-IP', get('Forwarded: for=127.0.0.1;host=b.test', 'X-Real-IP: 127.0.0.1'), 1],
  ['X_Forwarded_For', get('X_Forwarded_For: 127.0.0.1', 'X-Forwarded_Host: b.test', 'X_Real_IP: 1'), 1],
  ['X-Forwarded-Anything', get('X-Forwarded-Anything: 1'), 1],
  ['X-Forwarded-For with a space before its colon', get('X-Forwarded-For : 127.0.0.1')],
  ['X_Request_Id', get('X_Request_Id: forged-id'), 1],
]

const sizes: Rows = [
  ['a head of 33 kB', get(`X: ${'a'.repeat(33_000)}`)],
  ['a header of 1 MB', get(`X: ${'a'.repeat(1_000_000)}`)],
  ['a name of 1 MB', get(`${'a'.repeat(1_000_000)}: x`)],
  ['a target of 1 MB', request(`GET /${'a'.repeat(1_000_000)} HTTP/1.1`, ['Host: a.test'])],
  ['a method of 1 MB', request(`${'A'.repeat(1_000_000)} / HTTP/1.1`, ['Host: a.test'])],
  ['a target of 17 kB', request(`GET /${'a'.repeat(17_000)} HTTP/1.1`, ['Host: a.test'])],
  ['a thousand fields', get(...Array.from({ length: 1000 }, (_, index) => `X-${index}: y`))],
  ['two pipelined requests', get() + hidden, 2],
]

const groups: Record<string, Rows> = {
  'two lengths': bothLengths,
  'Transfer-Encoding': codings,
  'Content-Length': lengths,
  'chunk sizes': chunkSizes,
  'chunk extensions': extensions,
  trailers,
  'field lines': lines,
  'Host and target': hosts,
  'request lines': requestLines,
  Expect: expectations,
  'hop by hop': hopByHop,
  'forged origin': forgeries,
  sizes,
}

export const payloads: readonly Payload[] = Object.entries(groups).flatMap(([group, rows]) =>
  rows.map(([name, bytes, arrives = 0]) => ({ group, name, bytes, arrives })),
)
