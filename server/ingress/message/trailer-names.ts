/**
 * What a trailer may not say, as some servers put trailers among the fields of the head once a body is read: how the message is framed,
 * where it goes and where it comes from (RFC 9110 section 6.5.1).
 */
const forbidden = new Set([
  'connection',
  'content-length',
  'expect',
  'forwarded',
  'host',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-real-ip',
])
const FORWARDED_PREFIX = 'x-forwarded-'

export function isForbiddenTrailer(name: string): boolean {
  const plain = name.toLowerCase().replaceAll('_', '-')
  return forbidden.has(plain) || plain.startsWith(FORWARDED_PREFIX)
}
