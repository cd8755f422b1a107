import type { DatastoreStatus } from '../../shared/datastore.ts'
import { pollUntil } from '../api/poll.ts'
import type { Context } from '../session/context.ts'
import { clean } from '../terminal/text.ts'

interface Datastore {
  name: string
  status: DatastoreStatus
}

const over: readonly DatastoreStatus[] = ['available', 'suspended', 'recovery_failed']

/** Waits until a datastore is there, or is not going to be; says what it is until then. @throws Interrupted on Ctrl-C. */
export async function untilOver<T extends Datastore>(context: Context, first: T, ask: () => Promise<T>): Promise<T> {
  let told = ''
  return await pollUntil(first, {
    ask,
    isOver: ({ status }) => over.includes(status),
    onSeen({ name, status }) {
      if (told !== status) context.note(wordsOf(name, status))
      told = status
    },
    interrupted: context.io.interrupted,
  })
}

const wordsOf = (name: string, status: DatastoreStatus): string =>
  status === 'unavailable'
    ? clean`${name} is unavailable, and tried again and again: cpctl events --service ${name} tells why. Ctrl-C ends the waiting …`
    : clean`${name} is ${status} …`
