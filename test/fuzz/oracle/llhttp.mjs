// Reads HTTP/1.1 with llhttp, the parser of Node, and tells what it has read. Run by node, not Bun; takes and answers what main.go does.
import { createRequire } from 'node:module'

const { HTTPParser, methods } = createRequire(import.meta.url)('_http_common')
const noHeaders = []

/** Reads one item; the callbacks are called by index. */
function read(kind, item) {
  const parser = new HTTPParser()
  parser.initialize(kind === 'q' ? HTTPParser.REQUEST : HTTPParser.RESPONSE, {}, 0)
  const messages = []
  let current = { body: '', trailers: noHeaders }
  let isHeadRead = false
  parser[HTTPParser.kOnHeaders] = (headers, url) => {
    if (isHeadRead) current.trailers = current.trailers.concat(headers)
    else current = { ...current, early: (current.early ?? []).concat(headers), url: (current.url ?? '') + url }
  }
  parser[HTTPParser.kOnHeadersComplete] = (...[, , headers, method, url, statusCode]) => {
    isHeadRead = true
    const all = (current.early ?? []).concat(headers ?? [])
    current = { body: '', trailers: noHeaders, headers: all, method, url: (current.url ?? '') + (url ?? ''), statusCode }
    return kind === 'H' ? 1 : 0
  }
  parser[HTTPParser.kOnBody] = (part, from, length) => {
    const bytes = from === undefined ? part : part.subarray(from, from + length)
    current.body += bytes.toString('hex')
  }
  parser[HTTPParser.kOnMessageComplete] = () => {
    if (!(kind !== 'q' && current.statusCode < 200)) messages.push(kind === 'q' ? requestLine(current) : responseLine(current))
    current = { body: '', trailers: noHeaders }
    isHeadRead = false
  }
  const result = parser.execute(item)
  const end = result instanceof Error ? result : parser.finish()
  if (end instanceof Error) messages.push(`refused:${end.code}`)
  else if (isHeadRead) messages.push('refused:incomplete')
  parser.close()
  return messages.join(' ')
}

function requestLine({ method, url, headers, body, trailers }) {
  const names = headers.map((text, index) => (index % 2 === 0 ? text.toLowerCase() : text))
  const value = (name) => names.find((_, index) => index % 2 === 1 && names[index - 1] === name)
  const length = value('content-length')
  const framing = value('transfer-encoding')?.toLowerCase() ?? (length === undefined || Number(length) === 0 ? 'none' : 'length')
  return [methods[method], url, value('host'), framing, body, namesOf(trailers)].join('|')
}

function responseLine({ statusCode, body, trailers }) {
  return [statusCode, body, namesOf(trailers)].join('|')
}

function namesOf(headers) {
  const names = headers.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase())
  return [...new Set(names)].sort().join(',')
}

let unread = Buffer.alloc(0)
process.stdin.on('data', (bytes) => {
  unread = unread.length === 0 ? bytes : Buffer.concat([unread, bytes])
  let at = 0
  let answers = ''
  while (unread.length - at >= 5 && unread.length - at >= 5 + unread.readUInt32LE(at + 1)) {
    const end = at + 5 + unread.readUInt32LE(at + 1)
    answers += `${read(String.fromCharCode(unread[at]), unread.subarray(at + 5, end))}\n`
    at = end
  }
  unread = unread.subarray(at)
  if (answers !== '') process.stdout.write(answers, 'latin1')
})
