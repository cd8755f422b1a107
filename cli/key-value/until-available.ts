import type { KeyValue } from '../../shared/key-value.ts'
import { pollUntil } from '../api/poll.ts'
import type { Context } from '../session/context.ts'
import { clean } from '../terminal/text.ts'

/** Waits until a store is there, or is not going to be; says so where that takes more than a moment. @throws Interrupted on Ctrl-C. */
export async function untilAvailable(context: Context, store: KeyValue): Promise<KeyValue> {
  let told = ''
  return await pollUntil(store, {
    ask: () => context.client.call('getKeyValue', { params: { keyValueId: store.id } }),
    isOver: ({ status }) => ['available', 'suspended', 'recovery_failed'].includes(status),
    onSeen({ name, status }) {
      if (told !== status) context.note(clean`${name} is ${status} …`)
      told = status
    },
    interrupted: context.io.interrupted,
  })
}
