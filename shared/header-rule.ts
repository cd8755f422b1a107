/** Headers that frame a message or belong to one connection: the ingress writes them itself, and no rule may set them. */
const reserved = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'content-range',
  'date',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** Whether no rule may set a header, in any letter case. */
export const isReservedHeader = (name: string): boolean => reserved.has(name.toLowerCase())
