import type { Owner } from '../runtime/owner.ts'

/** What one slice keeps for an owner and lets go of with it. Both moments go through the slices in the order of their list. */
export interface Belongings<Context> {
  /** Part of the transaction of the deletion, after which the owner is gone for every caller. Pokes follow when it is committed. */
  release?(context: Context, owner: Owner): void
  /** Removes what is left, when nothing of the owner runs any more. Repeatable: after a failure the whole list is gone through again. */
  remove?(context: Context, owner: Owner): Promise<void>
}
