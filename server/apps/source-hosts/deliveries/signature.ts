import { createHmac, timingSafeEqual } from 'node:crypto'

/** Secret of the webhook of one repository: who administers it sees that one at the host, and could sign for all others with one of all. */
export const hookSecretOf = (webhookSecret: string, repository: string): string =>
  webhookSecret === '' ? '' : createHmac('sha256', webhookSecret).update(repository.toLowerCase()).digest('hex')

/** Whether a body was signed with this secret: HMAC-SHA256 in hex, as GitHub and Gitea have it. An empty secret signs nothing. */
export function isSigned(body: Uint8Array, signature: string, secret: string): boolean {
  if (secret === '' || !/^[0-9a-f]{64}$/.test(signature)) return false
  return timingSafeEqual(createHmac('sha256', secret).update(body).digest(), Buffer.from(signature, 'hex'))
}
