import { visibleChar } from '../../../shared/schema.ts'
import type { SessionPlace } from './store.ts'

const MAX_CLIENT_CHARS = 200
const visible = new RegExp(visibleChar)

export const placeOf = ({ request, clientAddress }: { request: Request; clientAddress: string }): SessionPlace => ({
  address: clientAddress,
  client: visiblePart(request.headers.get('user-agent') ?? ''),
})

export const visiblePart = (text: string): string =>
  Array.from(text.slice(0, 10 * MAX_CLIENT_CHARS))
    .filter((char) => visible.test(char))
    .slice(0, MAX_CLIENT_CHARS)
    .join('')
