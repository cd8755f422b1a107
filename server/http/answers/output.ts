import type { Operation } from '../../../shared/operation.ts'
import { isAnswer } from '../handlers/call.ts'
import { type Checker, createChecker } from '../input/validate.ts'
import type { StoredAnswer } from './idempotency.ts'

export interface Presented {
  status: number
  json: string | undefined
  headers: Record<string, string>
  cookies: readonly string[]
}

export type Presenter = (reply: unknown) => Presented

/** A reply that breaks its schema is our own mistake: it throws, so that the caller sees an internal error and the log names the place. */
export function createPresenter(id: string, operation: Operation): Presenter {
  const usual = usualStatus(operation)
  const checkers = new Map<number, Checker | null>(
    Object.entries(operation.responses).map(([status, schema]) => [Number(status), schema === null ? null : createChecker(schema)]),
  )
  return (reply) => {
    const { status, body, headers, cookies } = isAnswer(reply) ? reply : { status: usual, body: reply, headers: {}, cookies: [] }
    const checker = checkers.get(status)
    if (checker === undefined) throw new Error(`${id} answered ${status}, which its entry in the table does not name`)
    if (checker === null) {
      if (body !== undefined) throw new Error(`${id} answered ${status} with a body, which its entry in the table does not name`)
      return { status, json: undefined, headers, cookies }
    }
    if (!checker.accepts(body)) {
      const [problem] = checker.problemsOf(body)
      throw new Error(`${id} answered what its schema does not allow: ${problem?.path || '/'} ${problem?.message}`)
    }
    return { status, json: JSON.stringify(body), headers, cookies }
  }
}

/** 201 where something is created, else the lowest status: JavaScript keeps numeric keys in ascending order, not in that of the table. */
export function usualStatus({ responses, creates }: Operation): number {
  return creates && 201 in responses ? 201 : Math.min(...Object.keys(responses).map(Number))
}

export const storedAnswerOf = ({ status, json }: Presented): StoredAnswer => ({ status, body: json ?? '' })
