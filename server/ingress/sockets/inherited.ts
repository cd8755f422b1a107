import { closeSync } from 'node:fs'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

export const InheritedListener = Type.Object({
  host: Type.String(),
  port: Type.Integer(),
  descriptor: Type.Integer({ minimum: 3 }),
})
export type InheritedListener = Static<typeof InheritedListener>

export interface HeldListener {
  address: { host: string; port: number }
  descriptor: number
}

export const INHERITED_VARIABLE = 'CPD_INHERITED_LISTENERS'

const FIRST_INHERITED = 3

/** What the successor is told when it is given these sockets in this order, from descriptor 3 on. */
export function describeInherited(listeners: readonly HeldListener[]): string {
  return JSON.stringify(listeners.map(({ address }, index) => ({ ...address, descriptor: FIRST_INHERITED + index })))
}

export function parseInherited(text: string | undefined): InheritedListener[] {
  if (text === undefined || text === '') return []
  const value: unknown = JSON.parse(text)
  return Value.Check(Type.Array(InheritedListener), value) ? value : []
}

export interface Inheritance {
  take(address: { host: string; port: number }): InheritedListener | undefined
  /** Closes what nobody took, as clients would wait there for ever. */
  refuseRest(): void
}

export function inheritanceOf(listeners: readonly InheritedListener[]): Inheritance {
  const left = new Set(listeners)
  return {
    take({ host, port }) {
      const found = [...left].find((one) => one.host === host && (port === 0 || one.port === port))
      if (found !== undefined) left.delete(found)
      return found
    },
    refuseRest() {
      for (const { descriptor } of left) closeSync(descriptor)
      left.clear()
    },
  }
}
