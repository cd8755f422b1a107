import type { KeyValue } from '../../shared/key-value.ts'
import { untilOver } from '../datastores/until-over.ts'
import type { Context } from '../session/context.ts'

/** Waits until a store is there, or is not going to be; says what it is until then. @throws Interrupted on Ctrl-C. */
export const untilAvailable = (context: Context, store: KeyValue): Promise<KeyValue> =>
  untilOver(context, store, () => context.client.call('getKeyValue', { params: { keyValueId: store.id } }))
