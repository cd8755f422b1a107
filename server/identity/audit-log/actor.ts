import type { Actor } from '../../http/handlers/call.ts'
import type { NewEntry } from '../audit-chain/chain.ts'

export function actorOf(actor: Actor | undefined): NewEntry['actor'] {
  if (actor === undefined) return { type: 'rest_api' }
  const { type, id, email } = actor
  if (type === 'user') return { type, id, ...(email !== undefined && { email }) }
  return { type: 'rest_api', id: type === 'static_token' ? 'static_token' : id }
}
