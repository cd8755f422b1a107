import type { ProxyTarget } from '../tables/proxy-target.ts'
import type { CancelKey } from './first-packet.ts'

/**
 * Where to bring requests to cancel, which name no database. Process ids are alike in databases that have a namespace each: only with
 * the key they tell one session. An entry lives as long as its connection, so there are no more than of these.
 */
export class CancelKeys {
  readonly #targets = new Map<string, ProxyTarget>()

  get size(): number {
    return this.#targets.size
  }

  add(key: CancelKey, target: ProxyTarget): () => void {
    const text = textOf(key)
    this.#targets.set(text, target)
    return () => {
      if (this.#targets.get(text) === target) this.#targets.delete(text)
    }
  }

  targetOf(key: CancelKey): ProxyTarget | undefined {
    return this.#targets.get(textOf(key))
  }
}

const textOf = ({ processId, secret }: CancelKey): string => `${processId}:${secret.toString('base64')}`
