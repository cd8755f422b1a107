import type { AppContext } from '../../context.ts'
import type { StoredTransfer } from '../rows/store.ts'
import type { Place } from './target.ts'

export interface Transferring {
  context: AppContext
  transfer: StoredTransfer
  place: Place
  /** Aborts when it is canceled, when the disk runs short, and when the control plane ends. */
  signal: AbortSignal
  watch(bytes: () => number): void
}
