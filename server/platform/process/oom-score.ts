import { writeFileSync } from 'node:fs'

/** Our processes are spared longest when memory runs out; monitors have -700, what tenants run 500 and more. */
export const oomScores = { controlPlane: -900, ingress: -800 } as const

export function spareFromOom(score: number): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', String(score))
  } catch {}
}
