/** Why something ended, where its exit code and its signal do not say all. */
export const endReasons = [
  /** The kernel killed it, or a process of it, because it wanted more than `memoryBytes`. */
  'out_of_memory',
  /** Nobody was there to see how it ended, as when the whole machine did. */
  'unseen',
  /** Nobody saw how it ended, since what watched it was killed. */
  'monitor_killed',
] as const

export type EndReason = (typeof endReasons)[number]

/** How something ended. Exit code and signal are both null where nobody saw it end. */
export interface End {
  exitCode: number | null
  signal: string | null
  why?: EndReason
}

const UNSEEN: readonly (EndReason | undefined)[] = ['unseen', 'monitor_killed']

/** Whether nobody saw how it ended, so that nothing is known of what it did. */
export const wasUnseen = ({ why }: Pick<End, 'why'>): boolean => UNSEEN.includes(why)
