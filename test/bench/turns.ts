import { median } from './running-server.ts'

/** Measures ours and a peer's in turns, so that both meet the same moments of a machine with other work. Gives the medians. */
export async function inTurns(
  rounds: number,
  measure: (whose: 'ours' | 'peer') => Promise<number>,
): Promise<{ ours: number; peer: number }> {
  const taken = { ours: [] as number[], peer: [] as number[] }
  for (let round = 0; round < rounds; round++) for (const whose of ['ours', 'peer'] as const) taken[whose].push(await measure(whose))
  return { ours: median(taken.ours), peer: median(taken.peer) }
}

/** One line of a table: what was measured, both figures a second, and their ratio beside the least that is wanted. */
export function printRatio(what: string, { ours, peer }: { ours: number; peer: number }, least: number): void {
  const ratio = ours / peer
  const verdict = ratio < least ? `, goal ${least}: missed` : ''
  console.log(`  ${what.padEnd(24)} ${Math.round(ours)}/s, peer ${Math.round(peer)}/s (×${ratio.toFixed(2)}${verdict})`)
}
